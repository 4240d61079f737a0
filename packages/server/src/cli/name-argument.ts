import { InvalidArgumentError } from "commander";

export function nameArgument(text: string): string {
  if (text.length < 1 || text.length > 128)
    throw new InvalidArgumentError("It must have 1 to 128 characters.");
  return text;
}
