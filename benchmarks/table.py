"""Turn the CSV files of `seeds.py` into Markdown: `python benchmarks/table.py a.csv b.csv`."""

import csv
import statistics
import sys


def main(paths: list[str]) -> None:
    for path in paths:
        with open(path) as file:
            rows = list(csv.DictReader(file))
        first = rows[0]
        who = " ".join(filter(None, (first.get("algorithm"), first["preset"])))
        print(f"\n### {first['environment']}, {who}, {int(first['total_steps']):,} steps\n")
        print("| seed | hypervolume | I_eps | I_eps_mean | policies | fidelity | CPU s |")
        print("|---|---|---|---|---|---|---|")
        for row in rows:
            print(
                f"| {row['seed']} | {float(row['hypervolume']):.6g} | {float(row['epsilon']):.3f} "
                f"| {float(row['epsilon_mean']):.4f} | {row['cardinality']} "
                f"| {float(row['fidelity']):.2f} | {float(row['cpu_seconds']):.2f} |"
            )
        values = [float(row["hypervolume"]) for row in rows]
        print(
            f"\nHypervolume {statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f} over "
            f"{len(rows)} seeds; CPU seconds "
            f"{statistics.mean(float(row['cpu_seconds']) for row in rows):.2f} on average."
        )


if __name__ == "__main__":
    main(sys.argv[1:])
