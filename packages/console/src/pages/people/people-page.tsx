import type { Invitation, Person } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { InvitationLink } from "./invitation-link";
import { InvitePerson } from "./invite-person";

export function PeoplePage() {
  const [isInviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<{ invitation: Invitation | null }>();
  return (
    <>
      <PageHead title="People">
        <Link to="/roles" className="button">
          Roles
        </Link>
        <button type="button" className="button" data-tone="primary" onClick={() => setInviting(true)}>
          Invite
        </button>
      </PageHead>
      <PagedTable
        caption="People"
        queryKey={["people"]}
        list={bursar.people.list}
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={<Empty title="Nobody yet">Invite people; they log in with a passkey.</Empty>}
      />
      {isInviting && (
        <InvitePerson
          onClose={() => setInviting(false)}
          onDone={(invitation) => {
            setInviting(false);
            setInvited({ invitation });
          }}
        />
      )}
      {invited !== undefined && (
        <InvitationLink invitation={invited.invitation} onClose={() => setInvited(undefined)} />
      )}
    </>
  );
}

const columns: readonly Column<Person>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <Link to="/people/$id" params={{ id }}>
        <ForeignText text={name} limit={60} />
      </Link>
    ),
  },
  { title: "Email", cell: ({ email }) => <ForeignText text={email} limit={60} /> },
  { title: "Role", cell: ({ role }) => role },
  { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: "Passkeys",
    isNumber: true,
    cell: ({ passkeys }) => passkeys.length,
  },
  {
    title: "Link is valid for",
    cell: ({ state, invitation_expires_at }) =>
      state === "invited" && invitation_expires_at !== null ? (
        <Countdown until={invitation_expires_at} />
      ) : (
        <span className="quiet">-</span>
      ),
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];
