"""What a run left out of its training text is read from its folder, or refused."""

import os

import pytest

from datamodules.excluded import LEFT_OUT_FILE, Excluded, left_out_lines, letters_of, read_left_out
from encoder_lab.errors import InputError


def test_what_was_met_is_left_out_again_in_any_tokenisation(tmp_path) -> None:
    tasks = Excluded(["A dog barks .", "Nobody says this ."])
    assert "a dog barks." in tasks
    (tmp_path / LEFT_OUT_FILE).write_text(left_out_lines(tasks.matched))
    left_out = read_left_out(tmp_path)
    assert ("A DOG barks !" in left_out, "Nobody says this ." in left_out) == (True, False)


def test_vowel_signs_are_letters_and_accents_are_as_before() -> None:
    words = "की कू", "ক কি", "กิน กัน"  # in each pair of words letters are the same, and vowels are not
    assert [pair.split()[0] in Excluded([pair.split()[1]]) for pair in words] == [False] * 3
    assert "की , है ।" in Excluded(["की, है।"])
    assert letters_of("İ e\u0301 \u2764\ufe0f it's_2²") == "ieits2²"


def test_a_run_without_the_file_left_nothing_out(tmp_path) -> None:
    assert "A dog barks ." not in read_left_out(tmp_path)


def test_a_pipe_or_other_bytes_are_refused(tmp_path) -> None:
    os.mkfifo(tmp_path / LEFT_OUT_FILE)
    with pytest.raises(InputError, match="a pipe"):
        read_left_out(tmp_path)
    (tmp_path / LEFT_OUT_FILE).unlink()
    (tmp_path / LEFT_OUT_FILE).write_bytes(b"\xff")
    with pytest.raises(InputError, match="damaged"):
        read_left_out(tmp_path)
