import { useState } from "react";
import { useMe } from "../../session/use-me";
import { Field } from "../../ui/forms/field";
import { readFilters, type TransactionFilters } from "./filters";

const viewsMax = 50;

/** Views are kept in this browser, for this person of this tenant: a name and the filters, which others are not shown. */
export function SavedViews({
  filters,
  onChoose,
}: {
  filters: TransactionFilters;
  onChoose: (filters: TransactionFilters) => void;
}) {
  const key = `bursar.transaction-views.${useMe().data?.client.id}`;
  const [views, setViews] = useState(() => readViews(key));
  const current = JSON.stringify(filters);
  const chosen = Object.entries(views).find(([, saved]) => JSON.stringify(saved) === current)?.[0] ?? "";
  const store = (next: Record<string, TransactionFilters>) => {
    localStorage.setItem(key, JSON.stringify(next));
    setViews(next);
  };
  const save = () => {
    const name = prompt("Name of this view")?.trim().slice(0, 60);
    if (name !== undefined && name !== "" && Object.keys(views).length < viewsMax)
      store({ ...views, [name]: filters });
  };
  const remove = () => {
    const { [chosen]: _, ...others } = views;
    store(others);
  };
  return (
    <Field label="View">
      {(props) => (
        <div className="row nowrap">
          <select
            {...props}
            className="input"
            value={chosen}
            onChange={(event) => onChoose(views[event.target.value] ?? {})}
          >
            <option value="">{current === "{}" ? "All transactions" : "Not saved"}</option>
            {Object.keys(views).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          {chosen === "" ? (
            <button type="button" className="button" disabled={current === "{}"} onClick={save}>
              Save
            </button>
          ) : (
            <button type="button" className="button" onClick={remove}>
              Remove
            </button>
          )}
        </div>
      )}
    </Field>
  );
}

function readViews(key: string): Record<string, TransactionFilters> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    return Object.fromEntries(
      Object.entries(stored).map(([name, filters]) => [name, readFilters(filters ?? {})]),
    );
  } catch {
    return {};
  }
}
