import { Link } from "@tanstack/react-router";
import { useOpenChanges } from "../../api/open-changes";
import { StateBadge } from "../../ui/values/state-badge";
import { kindNames } from "./kind-names";

/** The requests to change a client or person that are not decided or not in effect yet, so that nobody asks a second time. */
export function OpenChangesOf({ id: target }: { id: string }) {
  const changes = useOpenChanges().filter((change) => change.target === target);
  return changes.map(({ id, kind, state }) => (
    <p key={id} className="notice row" data-tone="wait" role="status">
      <span>
        Requested:{" "}
        <Link to="/change-requests/$id" params={{ id }}>
          {kindNames[kind]}
        </Link>
      </span>
      <StateBadge state={state} />
    </p>
  ));
}
