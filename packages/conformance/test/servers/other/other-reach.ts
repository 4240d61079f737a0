import { checkTable } from "../../../src/checks/table.js";
import type { Check } from "../../../src/engine/check.js";
import { isWhole, withNeeds } from "../../faults/fault-reach.js";
import { type OtherChoice, type OtherChoiceName, otherChoices } from "./other-choices.js";

/**
 * Which checks run with a choice in the short form: with one of several the whole table, with the others those about what was chosen, which are
 * known by the words of its name. If no words tell, it is the whole table too. The long form runs the whole table with each.
 */
const areas: readonly (readonly [words: RegExp, checks: RegExp])[] = [
  [
    /notification|batches|event|sender|payload|retries|attempt/,
    /^(webhook|failed|refused)\.|nothing-created/,
  ],
  [/^(repetitions|keys?|refusals) /, /^(key|idempotency|refused)\.|^tx\.create\./],
  [/^errors|request ids/, /^(error|policy|access)\./],
  [/^an? token/, /^(access|error)\./],
  [/^a book/, /^(book|prefix)\./],
  [
    /^(an? )?(amount|asset|price|envelope)|state/,
    /^(shown|tx\.get|tx\.create)\.|^webhook\.(result|visible|members)/,
  ],
];

const choiceNames = Object.keys(otherChoices) as OtherChoiceName[];

export function checksOfChoice(choice: OtherChoiceName | undefined): readonly Check[] {
  if (choice === undefined || isWhole(choiceNames.indexOf(choice))) return checkTable;
  const { fails, warned = [], undecided = [] }: OtherChoice = otherChoices[choice];
  if (fails !== undefined) return withNeeds([fails.check]);
  const [, about] = areas.find(([words]) => words.test(choice)) ?? [];
  if (about === undefined) return checkTable;
  const ids = checkTable.flatMap(({ id, level }) => (level === "contract" && about.test(id) ? [id] : []));
  return withNeeds([...ids, ...warned, ...undecided]);
}
