import { ChoiceFilter } from "../../ui/tables/choice-filter";
import { TextFilters } from "../../ui/tables/text-filter";
import { states, type TransactionFilters } from "./filters";
import { SavedViews } from "./saved-views";

interface FilterBarProps {
  filters: TransactionFilters;
  onChange: (filters: TransactionFilters) => void;
}

const texts = [
  ["reference", "Reference, in full"],
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
      <ChoiceFilter
        label="State"
        value={filters.state}
        options={states}
        onChange={(state) => set("state", state ?? "")}
      />
      <TextFilters names={texts} filters={filters} onChange={set} />
      <SavedViews filters={filters} onChoose={onChange} />
    </search>
  );
}
