import { printable } from "../runtime/printable.js";

/*
 * What commands print contains strings that others wrote: names of tenants and rules, reasons of nodes, messages of the database. None of
 * them may write to the operator's terminal as it likes, so every command prints by these functions.
 */

/** Prints lines. Line feeds stay; every other character that a terminal acts on is escaped. */
export function print(text: string): void {
  console.log(printableLines(text));
}

export function printError(text: string): void {
  console.error(printableLines(text));
}

/** Prints JSON that reads as the same value: what a terminal would act on is escaped as JSON does it. */
export function printJson(value: unknown, indent?: number): void {
  console.log(printableJson(JSON.stringify(value, null, indent)));
}

export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** In JSON, such characters are in strings, except for the line feeds between its lines. */
export function printableJson(json: string): string {
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
