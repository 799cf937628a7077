"""From text to words: lower case, no numbers, no identifiers, no stop words, plurals folded into their singulars.

A word is a run of letters that stands alone. What looks like code does not: `snake_case`, `dotted.names`,
`CamelCase`, `call(...)`, `--option`. A plural is folded only if its singular occurs too, so "files" becomes "file" but
"pickles" alone stays what it is, and "class" or "status" are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a able about above across actually after afterwards again against all almost alone along already also although
    always am among an and another any anybody anyone anything anyway anywhere are aren around as at away back be
    became because become becomes been before behind being below beside besides between beyond both but by came can
    cannot cant certain come comes could couldn did didn do does doesn doing don done down during e each eg either
    else elsewhere enough etc even ever every everyone everything everywhere except far few first for from further g
    gave get gets getting give given gives go goes going gone got had has hasn have haven having he hence her here
    hers herself him himself his how however i ie if in indeed inside instead into is isn it its itself just keep
    kept know knows last least less let like likely ll made make makes many may maybe me merely might mine more
    moreover most mostly much must my myself namely near need needs neither never nevertheless new next no nobody
    none nor not nothing now nowhere of off often oh ok old on once one only onto or other others otherwise our ours
    ourselves out outside over own per perhaps please possible put quite rather re really s said same saw say says
    second see seem seemed seems seen self several shall she should shouldn simply since so some somebody someone
    something sometimes somewhere still such t take taken takes than that the their theirs them themselves then
    there thereby therefore these they thing things think this those though three through throughout thus to
    together too took toward towards two under unless until up upon us use used useful uses using usually various ve
    very via want wants was wasn way we well went were weren what whatever when whenever where whereas wherever
    whether which whichever while who whoever whole whom whose why will with within without won would wouldn yes yet
    you your yours yourself yourselves
    """
)

# A run of letters with neither letters, digits, '_' nor the joints of code around it. A full stop at the end of a
# sentence is no joint: a letter must follow it.
WORD = re.compile(r"(?<![\w.@\\/\-<%&$=])[^\W\d_]{2,}(?![\w(=\\/>@]|[.:][\w/])")


def words_of(text: str, stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """Return the words of a text, in order, without stop words and without what looks like code."""
    found = (word.lower() for word in WORD.findall(text) if in_one_case(word))
    return [word for word in found if word not in stop_words]


def in_one_case(word: str) -> bool:
    """Return whether a word is lower case after its first letter, or an acronym or its plural: "Word", "XML",
    "URLs", not "CamelCase"."""
    return word[1:].islower() or (len(word) > 2 and word[:-1].isupper())


def singular(word: str) -> list[str]:
    """Return the possible singulars of a word, the likeliest first."""
    if not word.endswith("s") or word.endswith(("ss", "us", "is")) or len(word) < 4:
        return []
    if word.endswith("ies"):
        return [word[:-3] + "y", word[:-1]]
    if word.endswith(("ches", "shes", "sses", "xes")):
        return [word[:-2]]
    return [word[:-1]]


def plurals(words: Iterable[str]) -> dict[str, str]:
    """Return the singular of every plural that occurs in both forms."""
    known = set(words)
    return {word: one for word in known for one in singular(word)[:2] if one in known}


def fold_plurals(documents: list[list[str]]) -> list[list[str]]:
    """Return every document with its plurals replaced by singulars that occur somewhere."""
    folded = plurals(word for document in documents for word in document)
    return [[folded.get(word, word) for word in document] for document in documents]
