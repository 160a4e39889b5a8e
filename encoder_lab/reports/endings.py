"""How the names of the files that reports write end, by report or by `format=`."""

PICTURES = (".png", ".svg")
TEXTS = (".md", ".txt")
ENDINGS = {
    **{"markdown": TEXTS, "latex": (".tex",), "csv": (".csv",), "html": (".html",), "text": TEXTS},
    **{"scores": (".csv",), "stability": TEXTS, "findings": (*TEXTS, *PICTURES), "subspaces": (*PICTURES, ".csv")},
}
