import type { Me } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../api/use-action";
import { logOut } from "../session/log-out";
import { ForeignText } from "../ui/values/foreign-text";
import { applyTheme, readTheme, type Theme } from "./theme";

/** Who is logged in, for which tenant, and the settings of this browser. */
export function Account({ me, onFind, onKeys }: { me: Me; onFind: () => void; onKeys: () => void }) {
  const [theme, setTheme] = useState<Theme>(readTheme);
  const leave = useAction({ mutationFn: () => logOut(me.client.id) });
  const change = (chosen: Theme) => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <div className="foot stack">
      <div>
        <Link to="/account">
          <ForeignText text={me.client.name} />
        </Link>
        <br />
        <ForeignText text={me.tenant.name} />
      </div>
      <div className="row">
        <button type="button" className="button small" onClick={onFind} aria-keyshortcuts="Control+K">
          Find
        </button>
        <button type="button" className="button small" onClick={onKeys} aria-keyshortcuts="?">
          Shortcuts
        </button>
        <button
          type="button"
          className="button small"
          disabled={leave.isPending}
          onClick={() => leave.mutate()}
        >
          {leave.isPending ? "Logging out" : "Log out"}
        </button>
      </div>
      <label className="row">
        Theme
        <select
          className="input small"
          value={theme}
          onChange={(event) => change(event.target.value as Theme)}
        >
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
    </div>
  );
}
