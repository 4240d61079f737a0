import { useAssets } from "../../api/catalog";
import { UnresolvedName } from "../../named-filters/unresolved-name";
import { usePersonFilter, useWalletFilter } from "../../named-filters/use-named-filter";
import { ChoiceFilter } from "../../ui/tables/choice-filter";
import { TextFilters } from "../../ui/tables/text-filter";
import { ClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { ObjectLink } from "../../ui/values/object-link";
import { ShortId } from "../../ui/values/short-id";
import { knownAsset, states, type TransactionFilters, timeFaults } from "./filters";
import { SavedViews } from "./saved-views";

interface FilterBarProps {
  filters: TransactionFilters;
  onChange: (filters: TransactionFilters) => void;
}

const texts = [
  ["reference", "Reference, in full"],
  ["asset", "Asset"],
  ["wallet", "Wallet, by name or id"],
  ["client", "Requested by, name or id"],
  ["from", "From (UTC)"],
  ["until", "Until (UTC), days as a whole"],
] as const;

/** The filters are in the address, so that a view can be sent to somebody else. A string counts when it is confirmed or left. */
export function FilterBar({ filters, onChange }: FilterBarProps) {
  const set = (name: keyof TransactionFilters, value: string) => {
    const { [name]: _, ...others } = filters;
    onChange((value === "" ? others : { ...others, [name]: value }) as TransactionFilters);
  };
  const assets = useAssets().data?.data;
  const codes = assets?.map(({ code }) => code) ?? [];
  const isUnknown = filters.asset !== undefined && assets !== undefined && !codes.includes(filters.asset);
  const named = {
    wallet: useWalletFilter((id) => set("wallet", id)),
    client: usePersonFilter((id) => set("client", id)),
  };
  return (
    <>
      <search className="filters">
        <ChoiceFilter
          label="State"
          value={filters.state}
          options={states}
          onChange={(state) => set("state", state ?? "")}
        />
        <TextFilters
          names={texts}
          filters={filters}
          faults={timeFaults(filters)}
          onChange={(name, value) =>
            name === "wallet" || name === "client"
              ? named[name].choose(value)
              : set(name, name === "asset" ? knownAsset(value, codes) : value)
          }
        />
        <SavedViews filters={filters} onChoose={onChange} />
      </search>
      {(filters.wallet !== undefined || filters.client !== undefined) && (
        <p className="small">
          {filters.wallet !== undefined && (
            <>
              <span className="quiet">Wallet</span> <ObjectLink id={filters.wallet} />{" "}
            </>
          )}
          {filters.client !== undefined && (
            <>
              <span className="quiet">Requested by</span> <ObjectLink id={filters.client} />
            </>
          )}
        </p>
      )}
      {isUnknown && (
        <p className="notice small" data-tone="wait" role="status">
          No asset has the code <ForeignText text={filters.asset ?? ""} limit={60} />. There are{" "}
          {codes.join(", ")}.
        </p>
      )}
      <UnresolvedName
        filter={named.wallet}
        nothing="No wallet"
        hint="The id is on the page of the wallet."
        show={({ id, name }) => (
          <>
            <ForeignText text={name} limit={60} />
            <ShortId id={id} />
          </>
        )}
      />
      <UnresolvedName
        filter={named.client}
        nothing="Nobody"
        hint="The id is on the page of the person or the client, and on the pages of their payments."
        show={({ id }) => <ClientId id={id} />}
      />
    </>
  );
}
