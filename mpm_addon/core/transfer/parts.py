"""Parts that bodies with a rest state are torn into; see `rest_grid`."""

import itertools

import numpy as np

from .fields import Fields
from .layout import Ints


class Parts:
    """The parts that bodies with a rest state are torn into: each has rest nodes of its own.

    The first parts are the velocity fields of the world, whole. In the store of the rest state, each part is a velocity field, with as
    many instances as its field in the world.

    Args:
        fields: instances of each velocity field in the world.
        field: the velocity field of each part; None if nothing is torn.

    Attributes:
        field: that.
        fields: instances of each part in the store of the rest state.
        instances: the instance in the world of each of these.
    """

    def __init__(self, fields: Fields, field: Ints | None = None) -> None:
        self._fields = fields
        self.field = np.arange(len(fields)) if field is None else field
        counts = [len(fields[each]) for each in self.field]
        first = np.concatenate([[0], np.cumsum(counts)]).tolist()
        self.fields: Fields = tuple(range(start, end) for start, end in itertools.pairwise(first))
        self.instances = [instance for each in self.field for instance in fields[each]]
        # the numbers of all instances of a part differ from those in the world by the same
        self._shift = np.array([first[number] - fields[each].start for number, each in enumerate(self.field)])

    @classmethod
    def extended(cls, fields: Fields, field: Ints) -> tuple["Parts", Ints]:
        """The parts of a simulation that continues another with no more velocity fields, and the new number of each of its parts.

        Args:
            fields: see `Parts`.
            field: the velocity field of each part in the other.
        """
        number = np.arange(len(field))
        known = int((field == number).sum())
        return cls(fields, np.append(np.arange(len(fields)), field[known:])), np.where(number < known, number, number - known + len(fields))

    def __len__(self) -> int:
        return len(self.field)

    def instance_of(self, part: Ints, instance: Ints) -> Ints:
        """The instances in the store of the rest state of particles with these parts and instances in the world, (n,)."""
        return self._shift[part] + instance

    def split(self, sources: Ints) -> "Parts":
        """With more parts, which come from those with these numbers."""
        return Parts(self._fields, np.concatenate([self.field, self.field[sources]]))
