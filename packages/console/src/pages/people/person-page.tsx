import type { ChangePersonBody, Invitation, Person } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useMe, useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { RefusedChange } from "../../ui/dialogs/refused-change";
import { ActionButton } from "../../ui/forms/action-button";
import { useDraft } from "../../ui/forms/use-draft";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { SimpleTable } from "../../ui/tables/simple-table";
import { ForeignText } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";
import { OpenChangesOf } from "../change-requests/open-changes-of";
import { DisablePerson } from "./disable-person";
import { InvitationLink } from "./invitation-link";
import { PersonSessions } from "./person-sessions";
import { RoleField } from "./role-field";
import { explainKeptSessions } from "./sessions-to-end";

export function PersonPage() {
  const { id } = useParams({ from: "/people/$id" });
  return (
    <ObjectPage title="Person" queryKey={["person", id]} read={(options) => bursar.people.get(id, options)}>
      {(person) => <Details key={person.id} person={person} />}
    </ObjectPage>
  );
}

function Details({ person }: { person: Person }) {
  const me = useMe().data;
  const { id, name, email, role, scopes, state, passkeys, created_by, created_at } = person;
  return (
    <div className="stack">
      <FactsCard>
        <TextFact name="Name" text={name} />
        <TextFact name="Email" text={email} />
        <IdFact id={id} />
        <StateFact state={state} />
        <Fact name="Role">{role}</Fact>
        <Fact name="Scopes">{scopes.join(", ")}</Fact>
        <ClientFact name="Invited by" id={created_by} />
        <TimeFact name="Since" at={created_at} />
      </FactsCard>
      <OpenChangesOf id={id} />
      <section className="stack" aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        {passkeys.length < 2 && (
          <p className="notice" data-tone="wait">
            {passkeys.length === 0
              ? "None: the last link, of the invitation or of a recovery, has not been used."
              : "Only one: if it is lost, somebody has to recover this person."}
          </p>
        )}
        {passkeys.length > 0 && (
          <SimpleTable
            caption="Passkeys"
            rows={passkeys}
            keyOf={(passkey) => passkey.id}
            columns={[
              { title: "Name", cell: (passkey) => <ForeignText text={passkey.name} limit={60} /> },
              { title: "Added", cell: (passkey) => <Time at={passkey.created_at} /> },
              {
                title: "Last used",
                cell: (passkey) =>
                  passkey.last_used_at === null ? (
                    <span className="quiet">never</span>
                  ) : (
                    <Time at={passkey.last_used_at} />
                  ),
              },
            ]}
          />
        )}
      </section>
      {me !== undefined && (
        <PersonSessions id={id} kept={explainKeptSessions(person, me)} haveEnded={state !== "active"} />
      )}
      <ChangePerson person={person} />
    </div>
  );
}

/** Another role, the state, or a new invitation. */
function ChangePerson({ person }: { person: Person }) {
  const { id, role, scopes } = person;
  const own = useScopes();
  const lacking = scopes.filter((scope) => !own.includes(scope));
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  // Only what was chosen, so that a role that somebody else has given since is not taken for it.
  const draft = useDraft<{ role?: string }>(`role.${id}`, () => ({}));
  const chosen = draft.value.role ?? role;
  const [recovered, setRecovered] = useState<{ invitation: Invitation | null }>();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ["person", id] });
    await queries.invalidateQueries({ queryKey: ["people"] });
    await queries.invalidateQueries({ queryKey: ["sessions", id] });
  };
  const change = useAction({
    mutationFn: (body: ChangePersonBody) => bursar.people.change(id, body),
    onSuccess: (_, { role: given }) => {
      if (given !== undefined) draft.clear();
    },
    onSettled: refresh,
  });
  const recover = useAction({
    mutationFn: () => bursar.people.recover(id),
    onSuccess: ({ invitation }) => setRecovered({ invitation }),
    onSettled: async () => {
      setAsking(false);
      await refresh();
    },
  });
  const { role: wantedRole, state: wantedState } = change.variables ?? {};
  return (
    <section className="card stack form" aria-labelledby="change">
      <h2 id="change">Change</h2>
      {lacking.length > 0 ? (
        <p>
          You cannot give this person another role, disable or recover them, because your role lacks{" "}
          {lacking.join(", ")}: nobody changes a person who may do more. The operator can, with{" "}
          {person.state === "disabled" ? (
            <>
              <code>bursar people enable {id}</code>, and then
            </>
          ) : (
            <>
              <code>bursar people disable {id}</code> and
            </>
          )}{" "}
          <code>bursar people recover {id}</code>.
        </p>
      ) : (
        <>
          <RoleField value={chosen} fault={undefined} onValue={(role) => draft.change({ role })} />
          <div className="row">
            <ActionButton
              isPending={change.isPending}
              disabled={chosen === role || chosen === ""}
              onAct={() => change.mutate({ role: chosen })}
            >
              Give this role
            </ActionButton>
            <DisablePerson
              person={person}
              isPending={change.isPending}
              onChange={(state) => change.mutate({ state })}
            />
            <ActionButton
              tone="danger"
              isPending={recover.isPending}
              disabled={person.state === "disabled"}
              onAct={() => setAsking(true)}
            >
              Recover with a new link
            </ActionButton>
          </div>
          {person.state === "disabled" && (
            <p className="small">
              A link does not work while the person is disabled. Enable them first, then recover them. The
              operator can enable them with <code>bursar people enable {id}</code>.
            </p>
          )}
        </>
      )}
      {isAsking && (
        <Confirm
          title="Recover with a new link"
          verb="Recover with the passkey"
          tone="danger"
          mutation={recover}
          onConfirm={recover.mutate}
          onClose={() => setAsking(false)}
        >
          <p>
            All passkeys of <ForeignText text={person.name} /> are removed, and all their sessions end. You
            get a new link, which is valid for 30 minutes. You could use it yourself, so from then on the two
            of you count as one when approvals are counted.
          </p>
        </Confirm>
      )}
      <RefusedChange
        key={`change ${change.submittedAt}`}
        error={change.error}
        body={{
          kind: "client.change",
          change: {
            client_id: id,
            ...(wantedRole === undefined ? {} : { role: wantedRole }),
            ...(wantedState === undefined ? {} : { state: wantedState }),
          },
        }}
      />
      <RefusedChange
        key={`recover ${recover.submittedAt}`}
        error={recover.error}
        body={{ kind: "person.recover", change: { client_id: id } }}
      />
      {recovered !== undefined && (
        <InvitationLink invitation={recovered.invitation} onClose={() => setRecovered(undefined)} />
      )}
    </section>
  );
}
