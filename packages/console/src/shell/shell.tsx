import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { useAssets } from "../api/catalog";
import { usePendingChanges } from "../api/open-changes";
import { usePendingApprovals } from "../api/pending-approvals";
import { hasEnded } from "../api/queries";
import { AcceptInvitation, useInvitation } from "../session/accept-invitation";
import { useIsLeftOpen } from "../session/left-open";
import { LogIn, LogInAgain } from "../session/log-in";
import { useLogOutElsewhere } from "../session/log-out";
import { useIdleEnd } from "../session/use-idle-end";
import { useMe, useScopes } from "../session/use-me";
import { Empty } from "../ui/panels/empty";
import { PageHead } from "../ui/panels/page-head";
import { Problem } from "../ui/panels/problem";
import { AssetDecimals } from "../ui/values/asset-decimals";
import { Account } from "./account";
import { KeyHelp } from "./key-help";
import { mayOpen, pages } from "./pages";
import { Palette } from "./palette";
import { useShortcuts } from "./shortcuts";
import { waitingWords } from "./waiting-words";

/** Who has logged out is not shown the session again that could not be ended. */
export function Shell() {
  return useIsLeftOpen() ? <LogIn isLeftOpen /> : <Frame />;
}

/** The frame of every page: the menu, the login that covers it when there is no session, and the keys. */
function Frame() {
  const [invitation, leaveInvitation] = useInvitation();
  const me = useMe();
  const [open, setOpen] = useState<"palette" | "keys">();
  useShortcuts({ openPalette: () => setOpen("palette"), openKeys: () => setOpen("keys") });
  // On a narrow screen the menu is folded, so that the page begins at the top.
  const [isMenuOpen, setMenuOpen] = useState(false);
  useOnArrival(() => setMenuOpen(false));
  const decimals = useAssetDecimals();
  useLogOutElsewhere();
  useIdleEnd(me.data !== undefined && !hasEnded(me.error));
  if (invitation !== undefined) return <AcceptInvitation invitation={invitation} onDone={leaveInvitation} />;
  if (me.data === undefined) {
    if (hasEnded(me.error)) return <LogIn />;
    return (
      <main className="centre">
        {me.error === null ? (
          <p className="quiet">Loading</p>
        ) : (
          <Problem error={me.error} retry={() => me.refetch()} />
        )}
      </main>
    );
  }
  const { scopes } = me.data.token;
  const isOver = hasEnded(me.error);
  return (
    <>
      {isOver && <LogInAgain personId={me.data.client.id} />}
      <div className="shell">
        <a className="skip" href="#main">
          Skip to the content
        </a>
        <header className="side">
          <div className="top">
            <Link to="/" className="brand">
              Bursar
            </Link>
            <button
              type="button"
              className="button small menu"
              aria-expanded={isMenuOpen}
              aria-controls="menu"
              onClick={() => setMenuOpen(!isMenuOpen)}
            >
              Menu
            </button>
          </div>
          <div id="menu" className="folded" data-open={isMenuOpen}>
            <nav aria-label="Pages">
              <ul>
                {pages
                  .filter((page) => mayOpen(scopes, page))
                  .map((page) => (
                    <li key={page.path}>
                      <Link to={page.path} activeOptions={{ exact: page.path === "/" }}>
                        {page.title}
                      </Link>
                      {page.path === "/approvals" && <WaitingPayments />}
                      {page.path === "/change-requests" && <WaitingChanges />}
                    </li>
                  ))}
              </ul>
            </nav>
            <Account me={me.data} onFind={() => setOpen("palette")} onKeys={() => setOpen("keys")} />
          </div>
        </header>
        <main id="main" className="main" tabIndex={-1}>
          <AssetDecimals.Provider value={decimals}>
            <AllowedPage scopes={scopes} />
          </AssetDecimals.Provider>
        </main>
      </div>
      {open === "palette" && <Palette scopes={scopes} onClose={() => setOpen(undefined)} />}
      {open === "keys" && <KeyHelp scopes={scopes} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** A page of the menu that the role may not open says so, before it asks the service. */
function AllowedPage({ scopes }: { scopes: readonly string[] }) {
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath });
  const page = pages.find((one) => one.path === path);
  if (page === undefined || mayOpen(scopes, page)) return <Outlet />;
  return (
    <>
      <PageHead title={page.title} />
      <Empty title="Your role does not open this page">
        An administrator can give you another role. Your pages are in the menu.{" "}
        {scopes.includes("transactions:write") && <Link to="/transactions/new">New payment</Link>}
      </Empty>
    </>
  );
}

function useAssetDecimals(): ReadonlyMap<string, number> {
  const { data } = useAssets();
  return useMemo(() => new Map(data?.data.map(({ code, decimals }) => [code, decimals] as const)), [data]);
}

/** How many payments wait, beside the page that decides about them: for an approver, those that they have not decided about. */
function WaitingPayments() {
  const pending = usePendingApprovals();
  const isApprover = useScopes().includes("transactions:approve");
  return <Count words={pending && waitingWords(pending, isApprover)} />;
}

/** How many changes wait for this person. Everybody who opens the page may decide about those of others. */
function WaitingChanges() {
  const pending = usePendingChanges();
  return <Count words={pending && waitingWords(pending, true)} />;
}

function Count({ words }: { words: ReturnType<typeof waitingWords> }) {
  if (words === undefined) return null;
  return (
    <span className="count">
      <span aria-hidden="true">{words.shown}</span>
      <span className="visually-hidden">{words.said}</span>
    </span>
  );
}

/** After a page was opened, the keyboard goes on at its heading, and a screen reader reads it. */
function useOnArrival(onArrival: () => void): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const first = useRef(true);
  const arrived = useEffectEvent(onArrival);
  useEffect(() => {
    if (path === undefined) return;
    if (first.current) {
      first.current = false;
      return;
    }
    arrived();
    document.querySelector<HTMLElement>("[data-page-title]")?.focus();
  }, [path]);
}
