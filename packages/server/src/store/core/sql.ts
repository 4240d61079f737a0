/**
 * SQL with its parameters. Written with the `sql` tag, whose values always become parameters and never text, so that there is
 * nothing to forget; a statement inside another becomes a part of it.
 */
export class Statement {
  readonly text: string;
  readonly values: readonly unknown[];

  constructor(text: string, values: readonly unknown[]) {
    this.text = text;
    this.values = values;
  }
}

/** A tag in the code hands over the same strings each time; so the same text is made once, and its hash with it. */
const texts = new WeakMap<TemplateStringsArray, string>();

export function sql(strings: TemplateStringsArray, ...parts: readonly unknown[]): Statement {
  if (parts.some((part) => part instanceof Statement)) return join(strings, parts);
  const text = texts.get(strings) ?? join(strings, parts).text;
  texts.set(strings, text);
  return new Statement(text, parts);
}

function join(strings: TemplateStringsArray, parts: readonly unknown[]): Statement {
  let text = strings[0] ?? "";
  const values: unknown[] = [];
  parts.forEach((part, index) => {
    if (part instanceof Statement) {
      const offset = values.length;
      // The tag itself has written these numbers; nothing else in a statement looks like them.
      text += part.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
      values.push(...part.values);
    } else {
      values.push(part);
      text += `$${values.length}`;
    }
    text += strings[index + 1] ?? "";
  });
  return new Statement(text, values);
}

/** Several parts as one, such as columns with a comma between them. */
export function joinStatements(
  parts: readonly Statement[],
  separator: ", " | " AND " | " UNION ALL ",
): Statement {
  const between = new Statement(separator, []);
  const [first = new Statement("", []), ...others] = parts;
  return others.reduce((all, part) => sql`${all}${between}${part}`, first);
}
