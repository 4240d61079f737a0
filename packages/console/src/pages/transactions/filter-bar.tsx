import { useState } from "react";
import { Field } from "../../ui/field";
import { states, type TransactionFilters } from "./filters";
import { SavedViews } from "./saved-views";

interface FilterBarProps {
  filters: TransactionFilters;
  onChange: (filters: TransactionFilters) => void;
}

const texts = [
  ["reference", "Reference"],
  ["asset", "Asset"],
  ["wallet", "Wallet id"],
  ["client", "Client id"],
] as const;

/** The filters are in the address, so that a view can be sent to somebody else. A string counts when it is confirmed or left. */
export function FilterBar({ filters, onChange }: FilterBarProps) {
  const set = (name: keyof TransactionFilters, value: string) => {
    const { [name]: _, ...others } = filters;
    onChange((value === "" ? others : { ...others, [name]: value }) as TransactionFilters);
  };
  return (
    <search className="filters">
      <Field label="State">
        {(props) => (
          <select
            {...props}
            className="input"
            value={filters.state ?? ""}
            onChange={(event) => set("state", event.target.value)}
          >
            <option value="">All</option>
            {states.map((state) => (
              <option key={state} value={state}>
                {state.replaceAll("_", " ")}
              </option>
            ))}
          </select>
        )}
      </Field>
      {texts.map(([name, label]) => (
        <TextFilter
          key={`${name}=${filters[name] ?? ""}`}
          label={label}
          value={filters[name] ?? ""}
          onChange={(value) => set(name, value)}
        />
      ))}
      <SavedViews filters={filters} onChoose={onChange} />
    </search>
  );
}

function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const confirm = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <Field label={label}>
      {(props) => (
        <input
          {...props}
          className="input"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          onBlur={confirm}
          onKeyDown={(event) => {
            if (event.key === "Enter") confirm();
          }}
        />
      )}
    </Field>
  );
}
