import type { ReactNode } from "react";
import { NamedClientId } from "../values/client-id";
import { CopyButton } from "../values/copy-button";
import { ForeignText } from "../values/foreign-text";
import { StateBadge } from "../values/state-badge";
import { Time } from "../values/time";

/** Names and values, one under the other. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

/** The facts that a page begins with. */
export function FactsCard({ children }: { children: ReactNode }) {
  return (
    <div className="card">
      <Facts>{children}</Facts>
    </div>
  );
}

/** One of them; nothing if there is no value. */
export function Fact({ name, children }: { name: ReactNode; children: ReactNode }) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <div className="contents">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The id of what the page shows. */
export function IdFact({ id }: { id: string }) {
  return (
    <Fact name="Id">
      <span className="row">
        <code>{id}</code> <CopyButton text={id} label="Copy the id" />
      </span>
    </Fact>
  );
}

/** A string that somebody else wrote. */
export function TextFact({ name, text }: { name: ReactNode; text: string | null | undefined }) {
  return <Fact name={name}>{text == null ? null : <ForeignText text={text} />}</Fact>;
}

export function StateFact({ state, children }: { state: string; children?: ReactNode }) {
  return (
    <Fact name="State">
      <StateBadge state={state} /> {children}
    </Fact>
  );
}

export function TimeFact({ name, at }: { name: string; at: string | null }) {
  return <Fact name={name}>{at !== null && <Time at={at} long />}</Fact>;
}

export function ClientFact({ name, id }: { name: string; id: string | null }) {
  return (
    <Fact name={name}>
      <NamedClientId id={id} />
    </Fact>
  );
}

/** Why it failed. */
export function FailureFact({ failure }: { failure: { code: string; message: string } | null }) {
  return (
    <Fact name="Failure">
      {failure !== null && (
        <>
          <code>{failure.code}</code> <ForeignText text={failure.message} />
        </>
      )}
    </Fact>
  );
}

/** What a client has attached to an object, names and values. */
export function MetadataFacts({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  return Object.entries(metadata).map(([name, value]) => (
    <TextFact
      key={name}
      name={
        <>
          Metadata <ForeignText text={name} />
        </>
      }
      text={value}
    />
  ));
}
