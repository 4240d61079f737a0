import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./files.mjs";
import { longestFiles } from "./proofs.mjs";

/**
 * Starts the files that take longest first, so that none of them runs alone at the end. Without the times of an earlier run, Vitest
 * starts the files with the most bytes first, and some of the longest proofs are short files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longestFiles.indexOf(relative(root, moduleId));
      return rank < 0 ? longestFiles.length : rank;
    };
    return (await super.sort(files)).sort((left, right) => rankOf(left) - rankOf(right));
  }
}
