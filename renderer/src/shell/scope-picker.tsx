import { ChevronRight, ChevronsUpDown } from 'lucide-react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { type PlatformRecord, useScope } from '../api/world.ts';
import { Badge } from '../parts/state.tsx';
import { useSearch } from '../url.ts';

/** Organization > workspace > environment; narrows every page. */
export function ScopePicker() {
  const { scope, orgs, workspaces, environments } = useScope();
  const [, change] = useSearch();
  const narrow = (id: string | undefined) => change({ scope: id, sel: undefined }, { isNewStep: true });
  const kind = scope.environment?.properties.environment_type;
  return (
    <fieldset className="flex min-w-0 items-center" aria-label="Scope of every page">
      <Step
        what="organization"
        all="All organizations"
        choices={orgs}
        chosen={scope.org}
        onChoose={(id) => narrow(id)}
        textOf={(org) => String(org.properties.fqon ?? org.name)}
      />
      {scope.org && (workspaces.length > 0 || scope.workspace) && (
        <Step
          what="workspace"
          all="all workspaces"
          choices={workspaces}
          chosen={scope.workspace}
          onChoose={(id) => narrow(id ?? scope.org?.id)}
        />
      )}
      {scope.workspace && (environments.length > 0 || scope.environment) && (
        <Step
          what="environment"
          all="all environments"
          choices={environments}
          chosen={scope.environment}
          onChoose={(id) => narrow(id ?? scope.workspace?.id)}
        />
      )}
      {typeof kind === 'string' && kind !== scope.environment?.name && <Badge>{kind}</Badge>}
    </fieldset>
  );
}

interface StepProps {
  what: string;
  /** The entry that takes the narrowing back. */
  all: string;
  choices: readonly PlatformRecord[];
  chosen: PlatformRecord | undefined;
  onChoose(id: string | undefined): void;
  textOf?(record: PlatformRecord): string;
}

const ALL = 'all';

function Step({ what, all, choices, chosen, onChoose, textOf = ({ name }) => name }: StepProps) {
  return (
    <>
      {what !== 'organization' && <ChevronRight aria-hidden size={13} className="shrink-0 text-faint" />}
      <MenuTrigger>
        <Button
          aria-label={`${what}: ${chosen ? textOf(chosen) : all}`}
          className="flex h-7 min-w-0 items-center gap-1 rounded-md px-1.5 data-[hovered]:bg-raised data-[pressed]:bg-raised"
        >
          <span className={`truncate ${chosen ? 'font-medium' : 'text-muted'}`}>{chosen ? textOf(chosen) : all}</span>
          <ChevronsUpDown aria-hidden size={12} className="shrink-0 text-faint" />
        </Button>
        <Popover
          offset={4}
          className="max-h-96 min-w-52 overflow-auto rounded-md border border-line bg-overlay p-1 shadow-pop"
        >
          <Menu
            aria-label={`Choose the ${what}`}
            selectionMode="single"
            selectedKeys={[chosen?.id ?? ALL]}
            onAction={(key) => onChoose(key === ALL ? undefined : String(key))}
            items={[{ id: ALL, text: all }, ...choices.map((record) => ({ id: record.id, text: textOf(record) }))]}
            className="outline-none"
          >
            {({ id, text }) => (
              <MenuItem
                id={id}
                textValue={text}
                className="flex cursor-default items-center rounded px-2 py-1 outline-none data-[focused]:bg-accent-soft data-[selected]:font-medium data-[selected]:text-accent"
              >
                {text}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  );
}
