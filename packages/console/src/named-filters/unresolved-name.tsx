import type { ReactNode } from "react";
import { ForeignText } from "../ui/values/foreign-text";
import type { NamedFilter } from "./use-named-filter";

interface UnresolvedNameProps {
  filter: NamedFilter;
  /** Such as "Nobody". */
  nothing: string;
  /** Where the id is found. */
  hint: string;
  show: (candidate: { id: string; name: string }) => ReactNode;
}

/** What to do about a name that nothing has, or more than one. */
export function UnresolvedName({ filter: { unresolved, choose }, nothing, hint, show }: UnresolvedNameProps) {
  if (unresolved === undefined) return null;
  const { typed, found: candidates, isExact, isWhole } = unresolved;
  return (
    <div className="notice" data-tone="wait" role="status">
      <p>
        {!isExact ? nothing : candidates.length > 1 ? "More than one" : "One"} is known here by the name{" "}
        <ForeignText text={typed} limit={60} />. {!isWhole && "Not all names are known here. "}
        {candidates.length === 0 ? hint : isExact ? "Choose one." : "These contain it. Choose one."}
      </p>
      <div className="row">
        {candidates.map((candidate) => (
          <button
            type="button"
            className="button small"
            key={candidate.id}
            onClick={() => choose(candidate.id)}
          >
            {show(candidate)}
          </button>
        ))}
      </div>
    </div>
  );
}
