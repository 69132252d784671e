"""In which order files are run: what takes long comes first, so that no worker idles at the end."""

from collections import Counter

LONGEST = (
    "test_benchmarks.py",
    "storage/test_staged_storage.py",
    "solvers/test_retrograde.py",
    "web/test_page_kniffel.py",
    "compiler/test_rules.py",
    "test_known_values.py",
    "games/test_kniffel_duel.py",
    "searchers/test_search.py",
    "web/test_page.py",
    "bellman/test_rounding.py",
    "stages/test_distribution.py",
    "solvers/test_endless_play.py",
    "certificates/test_staged_certificate.py",
    "certificates/test_certificate.py",
    "web/test_api_kniffel.py",
    "cli/test_cli.py",
    "games/test_kniffel_cli.py",
    "searchers/test_expectiminimax.py",
    "storage/test_hostile_files.py",
    "compiler/test_overflow.py",
    "solvers/test_interruptions.py",
    "web/test_page_values.py",
    "testing/test_check_searcher.py",
    "cli/test_compare_cli.py",
    "storage/test_storage.py",
    "searchers/test_proof_number.py",
    "solvers/test_depth_first.py",
    "stages/test_stages.py",
    "web/test_page_folder.py",
    "pictures/test_references.py",
    "reduction/test_flat_components.py",
    "simulation/test_simulate_rules.py",
    "testing/test_check_solver.py",
    "simulation/test_simulate_staged.py",
    "reduction/test_mixed_totals.py",
    "cli/test_search_cli.py",
    "certificates/test_finer_certificates.py",
    "web/test_api.py",
    "searchers/test_max_n.py",
    "web/test_api_serve.py",
    "games/test_mancala.py",
    "web/test_page_lines.py",
    "solvers/test_solvers.py",
    "adapters/test_adapters.py",
    "sums/test_sums.py",
    "web/test_page_views.py",
    "comparison/test_comparison.py",
    "bellman/test_discounted.py",
    "policies/test_responses.py",
    "graph/test_components.py",
    "compiler/test_misleading_rules.py",
    "adapters/test_adapters_openspiel.py",
    "games/test_kniffel_rules.py",
    "solvers/test_deflation.py",
    "storage/test_safe_writing.py",
    "play/test_programs.py",
    "test_mutants.py",
    "policies/test_lengths.py",
    "runtime/test_compile_clock.py",
    "runtime/test_arithmetic.py",
)
"""The files that take longest, below ``tests``; two that follow each other compile little that is
the same, since two workers begin them at about the same time.
"""


def longest_first(items):
    """Sort tests in place: files that take long, then those with many tests; each file as it is.

    Parameters
    ----------
    items : list
        Of pytest; their `path` tells the file.
    """
    places = {file: place for place, file in enumerate(LONGEST)}
    counts = Counter(item.path for item in items)

    def rank(item):
        place = places.get(item.path.as_posix().rpartition("/tests/")[2], len(places))
        return place, -counts[item.path], item.path

    items.sort(key=rank)
