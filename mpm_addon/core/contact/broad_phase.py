"""Which surfaces may touch: boxes around them, sorted along one axis and swept (Cohen et al. 1995), and the contacts of those that do."""

from ..compilation.kernel import kernel
from .hull_contact import touch_polyhedra
from .round_contact import touch_lines, touch_plane, touch_round


@kernel
def sweep_boxes(boxes, order, axis, body_count, pairs):
    """Find the pairs of boxes that overlap, at least one of them a rigid body's.

    Args:
        boxes: (n, 6) lower and upper corners [m]; an infinite one overlaps all others.
        order: (k,) the surfaces with a box, ascending by their lower ends along the axis.
        axis: 0 to 2.
        body_count: the first surfaces are rigid bodies.
        pairs: (m, 2) result: the lower number first; as many as there is room for.

    Returns:
        The number of pairs, which may exceed the room.
    """
    count = 0
    for index in range(order.size):
        a = order[index]
        for other in range(index + 1, order.size):
            b = order[other]
            if boxes[b, axis] > boxes[a, 3 + axis]:
                break
            if min(a, b) >= body_count:
                continue
            is_apart = False
            for each in range(3):
                is_apart |= boxes[b, each] > boxes[a, 3 + each] or boxes[a, each] > boxes[b, 3 + each]
            if is_apart:
                continue
            if count < pairs.shape[0]:
                pairs[count, 0], pairs[count, 1] = min(a, b), max(a, b)
            count += 1
    return count


@kernel
def find_hull_contacts(hulls, pairs, scratch, gaps, chosen, found):
    """Find the contacts of pairs of hulls.

    Args:
        hulls: see `Hulls`.
        pairs: (n, 2) their surfaces; a plane is the second.
        scratch: (2, MOST_CORNERS, 3), gaps: (MOST_CORNERS,), chosen: (MOST_CORNERS,) scratch.
        found: result, see `Found`.

    Returns:
        The number of contacts.
    """
    count = 0
    work = scratch, gaps, chosen
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        margin = hulls.margins[a] + hulls.margins[b]
        is_round = hulls.first_face[a] == hulls.first_face[a + 1]
        if hulls.first_vertex[b] == hulls.first_vertex[b + 1]:
            count = touch_plane(hulls, pair, a, b, margin, work, found, count)
        elif hulls.first_face[b] == hulls.first_face[b + 1]:
            if is_round:
                count = touch_lines(hulls, pair, a, b, margin, found, count)
            else:
                count = touch_round(hulls, pair, b, a, margin, -1.0, found, count)
        elif is_round:
            count = touch_round(hulls, pair, a, b, margin, 1.0, found, count)
        else:
            count = touch_polyhedra(hulls, pair, a, b, work, found, count)
    return count
