"""A folder with a few made-up items for every downstream task."""

from pathlib import Path

from probes.downstream.data import STS_DOMAINS, TASKS


def folder_of_tasks(root: Path) -> Path:
    """Write the files below `root` in the published layout, and give `root`."""
    words = ("calm", "blue", "cold", "loud", "soft", "warm")

    def put(name: str, text: str, encoding: str = "utf-8") -> None:
        path = root / "downstream" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding=encoding)

    for task in ("MR", "CR", "SUBJ", "MPQA"):
        for place, name in enumerate(TASKS[task].files):
            put(name, "".join(f"{word} café{' x' * (i % 3)} {place}\n" for i, word in enumerate(4 * words)), "latin-1")
    for part in ("train", "dev", "test"):
        put(f"SST/binary/sentiment-{part}", "a good film\t1\na bad one\t0\n")
        put(f"SST/fine/sentiment-{part}", "".join(f"{label} film {label}\n" for label in range(5)))
    for name in TASKS["TREC"].files:
        put(name, "".join(f"{label}:x What is {w} ?\n" for label in ("HUM", "NUM", "LOC", "ABBR") for w in words))
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for name in TASKS["MRPC"].files:
        put(name, header + "".join(f"{i % 2}\t1\t2\t{w} {i}\t{words[i % 2]} {i}\n" for i, w in enumerate(4 * words)))
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    judged = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    for name in TASKS["SICK-E"].files:
        rows = (f"{i}\tA {w} .\tA {words[i - 1]} .\t{1 + i / 2}\t{judged[i % 3]}\n" for i, w in enumerate(words))
        put(name, header + "".join(rows))
    for name in TASKS["STSB"].files:
        rows = (f"g\tf\t1\t{i}\t{i / 2}\ta {w}\tthe {words[i - 1]}\n" for i, w in enumerate(words))
        put(name, "".join(rows))
    for year, domains in STS_DOMAINS.items():
        for domain in domains:
            put(f"STS/{year}-en-test/STS.input.{domain}.txt", "".join(f"a {w}\tthe {w} one\n" for w in words))
            put(f"STS/{year}-en-test/STS.gs.{domain}.txt", "1\n\n3.5\n4\n0\n5\n")
    return root
