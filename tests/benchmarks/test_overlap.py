"""The stored measurement of copies that overlap with kernels."""

from __future__ import annotations

from course_utils.benchmarks.experiments import overlap
from course_utils.records.measured_files import measurements


def test_the_stored_overlap_has_every_step_of_every_chunk_and_no_engine_works_twice_at_once():
    panels = measurements("overlap")["panels"]
    assert list(panels) == list(overlap.PLANS)
    for name, (chunks, _) in overlap.PLANS.items():
        for row in overlap.ROWS:
            spans = [span for span in panels[name] if span[0] == row]
            assert [span[1] for span in spans] == [str(chunk) for chunk in range(chunks)]
            assert all(a[3] <= b[2] for a, b in zip(spans, spans[1:], strict=False))


def test_no_step_ends_before_it_begins_where_a_later_chunk_was_seen_to_end_first():
    spans = overlap.spans_of([[0, 2, 3, 4], [0, 1.9, 3.5, 5]])
    assert all(start <= end for _, _, start, end in spans)
    assert spans[3] == ("copy in", "1", 2, 2)
