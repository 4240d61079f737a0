/** The wallets whose name another one has, in any case of its letters, or that are called like an address or an id. */
export function unclearNames(names: ReadonlyMap<string, string>): ReadonlySet<string> {
  const idsByName = new Map<string, string[]>();
  for (const [id, name] of names) {
    const read = name.normalize("NFKC").trim().toLowerCase();
    idsByName.set(read, [...(idsByName.get(read) ?? []), id]);
  }
  return new Set(
    [...idsByName].flatMap(([name, ids]) => (ids.length > 1 || looksLikeAddress(name) ? ids : [])),
  );
}

/** Also one that is cut as in a list: its two ends. */
function looksLikeAddress(name: string): boolean {
  return /^(0x|wlt_)/.test(name) || /^\S{4,}(…|\.{2,3})\S{4,}$/.test(name) || /^[0-9a-z]{25,}$/.test(name);
}
