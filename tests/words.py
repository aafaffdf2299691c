"""Spellings and phrases that texts for people do not use."""

from __future__ import annotations

import re

# British spellings of words that the extension could use.
BRITISH = re.compile(
    r"\b(\w*colour\w*|grey\w*|centre\w*|\w*metre\w*|litre\w*|behaviour\w*|neighbour\w*|favour\w*|honour\w*|analyse\w*|catalogue\w*|modell\w+"
    r"|cancelled|travell\w+|vulcanis\w+|organis\w+|initialis\w+|visualis\w+|tyres?|gelatine|mould\w*|draught|aluminium)\b",
    re.IGNORECASE,
)
# Phrases that the interface and messages must not use; Blender has other words for them.
BANNED = re.compile(
    r"\bmatter\b|\bgo(es)? on\b|\bgive a value of its own\b|\btakes? (no )?part\b|\bnobody\b|\bthat are there\b|\bis not there\b"
    r"|\bfor good\b|\bbegin anew\b|\bits process ended\b|\bhow heavy\b|\bwhat becomes of\b|\ball as the\b|\bbegan as\b|\bgoals?\b"
    r"|\bfinals?\b|\bof (its|one's|their) own\b|\bwait for its end\b|\bdecides? about\b|\bwhat .{1,20} (is|are) made of\b|\bsaid nothing\b"
    r"|\bthe other way round\b|\bas (it|they) (is|are)\b|\bnot computed\b|\b(does|do) not act\b|\bagain and again\b|\bhow often\b"
    r"|\bbodies\b|\bparts\b|\bfor want of\b|\bbegun anew\b|\bstiffer\b|\bfrom here on\b|\bleave .{1,30} out\b|\bin number\b"
    r"|\bwhose \w+ these are\b|\bthat are shown\b|\bworks in .{1,20} only\b|\bwhile it (was|is) (read|made)\b|\bfrom outside\b|\d %",
    re.IGNORECASE,
)
# Phrases that no page of the manual or the reference uses; some of the above have a place there.
BANNED_ON_PAGES = re.compile(
    r"\bgo(es)? on\b|\bgive a value of its own\b|\btakes? (no )?part\b|\bnobody\b|\bis not there\b"
    r"|\bfor (good|ever)\b|\banew\b|\bhow heavy\b"
    r"|\bwhat becomes of\b|\bwait for its end\b|\bthe other way round\b|\bagain and again\b|\bfor want of\b|\bfrom here on\b|\bin number\b"
    r"|\bnowhere\b|\bafterwards\b|\btowards\b|\bhenceforth\b|\bin order to\b|\bby means of\b|\d %",
    re.IGNORECASE,
)
