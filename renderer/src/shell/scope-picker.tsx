import { ChevronRight, ChevronsUpDown } from 'lucide-react';
import { useState } from 'react';
import { Autocomplete, Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { type PlatformRecord, useScope } from '../api/use-world.ts';
import { FilterField } from '../components/fields.tsx';
import { Badge } from '../components/state.tsx';
import { useSearch } from '../url.ts';

/** Organization > workspace > environment; narrows every page. */
export function ScopePicker() {
  const { scope, orgs, workspaces, environments } = useScope();
  const [, change] = useSearch();
  const narrow = (id: string | undefined) => change({ scope: id, sel: undefined }, { isNewStep: true });
  const kind = scope.environment?.properties.environment_type;
  return (
    <fieldset className="flex min-w-0 items-center" aria-label="Scope of every page">
      <Step subject="organization" all="All organizations" choices={orgs} chosen={scope.org} onChoose={narrow} />
      {scope.org && (
        <Step subject="workspace" choices={workspaces} chosen={scope.workspace} onChoose={narrow} above={scope.org} />
      )}
      {scope.workspace && (
        <Step
          subject="environment"
          choices={environments}
          chosen={scope.environment}
          onChoose={narrow}
          above={scope.workspace}
        />
      )}
      {typeof kind === 'string' && kind !== scope.environment?.name && <Badge>{kind}</Badge>}
    </fieldset>
  );
}

interface StepProps {
  subject: string;
  /** The entry that takes the narrowing back. Default: `all` of them. */
  all?: string;
  choices: readonly PlatformRecord[];
  chosen: PlatformRecord | undefined;
  onChoose(id: string | undefined): void;
  /** The resources to choose from; nothing is shown without any. */
  above?: PlatformRecord;
}

const ALL = 'all';

/** More choices than this get a field that filters them, and no more than this are drawn. */
const MAX_UNFILTERED = 12;
const MAX_DRAWN = 100;

/** An organization by its fully qualified name, anything else by its own. */
const textOf = ({ name, properties }: PlatformRecord) => String(properties.fqon ?? name);

function Step({ subject, all = `all ${subject}s`, choices, chosen, onChoose, above }: StepProps) {
  const [filter, setFilter] = useState('');
  if (above && choices.length === 0 && !chosen) return null;
  const isLong = choices.length > MAX_UNFILTERED;
  const searchText = filter.trim().toLowerCase();
  const fitting = choices.filter((record) => textOf(record).toLowerCase().includes(searchText)).slice(0, MAX_DRAWN);
  const entries = fitting.map((record) => ({ id: record.id, text: textOf(record) }));
  const menu = (
    <Menu
      aria-label={`Choose the ${subject}`}
      selectionMode="single"
      selectedKeys={[chosen?.id ?? ALL]}
      onAction={(key) => {
        setFilter('');
        onChoose(key === ALL ? above?.id : String(key));
      }}
      items={searchText === '' ? [{ id: ALL, text: all }, ...entries] : entries}
      className="outline-none"
      renderEmptyState={() => <p className="px-2 py-1 text-muted">No match.</p>}
    >
      {({ id, text }) => (
        <MenuItem
          id={id}
          textValue={text}
          className="flex min-h-6 cursor-default items-center rounded px-2 py-1 outline-none data-[focused]:bg-accent-soft data-[selected]:font-medium data-[selected]:text-accent"
        >
          {text}
        </MenuItem>
      )}
    </Menu>
  );
  return (
    <>
      {above && <ChevronRight aria-hidden size={13} className="shrink-0 text-faint" />}
      <MenuTrigger>
        <Button
          aria-label={`${subject}: ${chosen ? textOf(chosen) : all}`}
          className="flex h-7 min-w-0 items-center gap-1 rounded-md px-1.5 data-[hovered]:bg-raised data-[pressed]:bg-raised"
        >
          <span className={`truncate ${chosen ? 'font-medium' : 'text-muted'}`}>{chosen ? textOf(chosen) : all}</span>
          <ChevronsUpDown aria-hidden size={12} className="shrink-0 text-faint" />
        </Button>
        <Popover
          offset={4}
          className="flex max-h-96 min-w-52 flex-col overflow-auto rounded-md border border-line bg-overlay p-1 shadow-pop"
        >
          {isLong ? (
            <Autocomplete inputValue={filter} onInputChange={setFilter}>
              <FilterField label={`Filter the ${subject}s`} autoFocus className="sticky top-0 z-1 bg-overlay pb-1" />
              {menu}
            </Autocomplete>
          ) : (
            menu
          )}
        </Popover>
      </MenuTrigger>
    </>
  );
}
