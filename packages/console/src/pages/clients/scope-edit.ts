/** What a person adds to the scopes of a client, and takes away. Whatever others change meanwhile stays as they have left it. */
export interface ScopeEdit {
  added?: readonly string[];
  removed?: readonly string[];
}

export function scopeEditOf(present: readonly string[], chosen: readonly string[]): Required<ScopeEdit> {
  return {
    added: chosen.filter((scope) => !present.includes(scope)),
    removed: present.filter((scope) => !chosen.includes(scope)),
  };
}

/** The scopes that are there now, with the edit. */
export function editedScopes(present: readonly string[], { added = [], removed = [] }: ScopeEdit): string[] {
  return [...new Set([...present, ...added])].filter((scope) => !removed.includes(scope));
}
