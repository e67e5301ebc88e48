// Prints the table of what passed, from the files that the suites wrote: a line for each row of each client, a column for each
// target. Ends with 1 when something failed, or when a target has other rows than the others.

import { readFileSync } from "node:fs";

const [directory, targets, clients] = [process.argv[2], process.argv[3].split(" "), process.argv[4].split(" ")];
const widths = [18, 22, ...targets.map(() => 10)];
const line = (cells) => console.log(cells.map((cell, place) => cell.padEnd(widths[place])).join(" ").trimEnd());
let isSound = true;
line(["client", "", ...targets]);
for (const client of clients) {
  const results = targets.map((target) => {
    const lines = readFileSync(`${directory}/${target}-${client}`, "utf8").split("\n");
    // Some clients write lines of their own.
    return new Map(lines.map((line) => line.split("\t")).filter(({ length }) => length === 2));
  });
  const rows = new Set(results.flatMap((result) => [...result.keys()]));
  if (rows.size === 0) isSound = false;
  for (const row of rows) {
    const words = results.map((result) => result.get(row) ?? "MISSING");
    if (words.some((word) => !["ok", "no"].includes(word))) isSound = false;
    line([client, row, ...words]);
  }
}
console.log("\nno: the target does not offer this, and refuses it so that the client understands (docs/graph.md)");
process.exit(isSound ? 0 : 1);
