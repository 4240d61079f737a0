/**
 * The lineage of a client: itself, the clients that created it, gave it a credential or changed its authority, and their lineages. Each of
 * them could act as the client. The operator is not part of any lineage. One bit stands for a client, so that comparing lineages of 1000
 * clients takes 16 machine words; only lineages of one `closeLineages` can be compared.
 */
export type Lineage = bigint;

/** The lineage of a client whose controllers are not known, or are too many to follow: it shares a client with every other one. */
export const everyone: Lineage = -1n;

/** A client that more clients control is independent of nobody. The operator can reset it. */
export const controllersMax = 20;

/** A client whose lineage has more clients is independent of nobody: a tally reads the rows of all of them while payments wait for it. */
export const lineageMax = 100;

interface Visit {
  index: number;
  controllers: readonly string[];
  next: number;
}

/**
 * The lineages of clients, by following who controls whom. Every client is visited once and every edge is followed once, in whatever order
 * the clients come: clients that control each other in a circle have one lineage (Tarjan's strongly connected components, without recursion
 * because a chain can be as long as a tenant has clients).
 */
export function closeLineages(
  clientIds: Iterable<string>,
  /** Undefined if it is not known. */
  controllersOf: (clientId: string) => readonly string[] | undefined,
): ReadonlyMap<string, Lineage> {
  const indexes = new Map<string, number>();
  const lineages: Lineage[] = [];
  const lowest: number[] = [];
  const isClosed: boolean[] = [];
  const open: number[] = [];
  const path: Visit[] = [];

  const visit = (clientId: string) => {
    const index = indexes.size;
    indexes.set(clientId, index);
    const controllers = controllersOf(clientId);
    const isKnown = controllers !== undefined && controllers.length <= controllersMax;
    lineages.push(isKnown ? 1n << BigInt(index) : everyone);
    lowest.push(index);
    isClosed.push(false);
    open.push(index);
    path.push({ index, controllers: isKnown ? controllers : [], next: 0 });
  };
  const join = (index: number, controller: number) => {
    if (isClosed[controller]) lineages[index] = at(lineages, index) | at(lineages, controller);
    else lowest[index] = Math.min(at(lowest, index), at(lowest, controller));
  };
  const close = (index: number) => {
    const circle = open.splice(open.lastIndexOf(index));
    const lineage = toBounded(circle.reduce((all, member) => all | at(lineages, member), 0n));
    for (const member of circle) {
      lineages[member] = lineage;
      isClosed[member] = true;
    }
  };

  for (const clientId of clientIds) {
    if (!indexes.has(clientId)) visit(clientId);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const controller = last.controllers[last.next++];
      if (controller === undefined) {
        path.pop();
        if (lowest[last.index] === last.index) close(last.index);
        const parent = path.at(-1);
        if (parent !== undefined) join(parent.index, last.index);
      } else {
        const known = indexes.get(controller);
        if (known === undefined) visit(controller);
        else join(last.index, known);
      }
    }
  }
  return new Map([...indexes].map(([clientId, index]) => [clientId, at(lineages, index)]));
}

function toBounded(lineage: Lineage): Lineage {
  let count = 0;
  for (let rest = lineage; rest > 0n; rest &= rest - 1n) if (++count > lineageMax) return everyone;
  return lineage;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
}

/** Whether no client could act as both. */
export function areIndependent(one: Lineage, other: Lineage): boolean {
  return (one & other) === 0n;
}
