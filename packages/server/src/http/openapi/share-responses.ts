import { STATUS_CODES } from "node:http";

type Responses = Record<string, object>;
interface Operation {
  responses: Responses;
}
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;

/**
 * Makes the most frequent error response of each status a component: most routes refuse a bad token in the same words. The
 * document has 420 kB, and would have 690 kB without.
 *
 * @returns the components; the operations are changed
 */
export function shareResponses(paths: Paths): Responses {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as Operation[]);
  const counts = new Map<string, Map<string, number>>();
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400) continue;
      const source = JSON.stringify(response);
      const ofStatus = counts.get(status) ?? new Map<string, number>();
      counts.set(status, ofStatus.set(source, (ofStatus.get(source) ?? 0) + 1));
    }
  const shared = new Map<string, string>();
  for (const [status, ofStatus] of counts) {
    const [source, count] = [...ofStatus].sort(([, one], [, other]) => other - one)[0] ?? ["", 0];
    if (count > 1) shared.set(source, nameOf(status));
  }
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const name = shared.get(JSON.stringify(response));
      if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` };
    }
  return Object.fromEntries([...shared].map(([source, name]) => [name, JSON.parse(source)]));
}

/** `TooManyRequests`, from 429. */
function nameOf(status: string): string {
  return (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, "");
}
