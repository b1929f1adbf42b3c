import { Plus } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { type PlatformRecord, useScope } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { Badge } from '../../parts/state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, usePlaceId, useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { codeDrafts, variableDrafts } from './drafts.ts';
import { GoneLambda } from './gone-lambda.tsx';
import { NewLambdaDialog } from './new-lambda-dialog.tsx';
import { Workbench } from './workbench.tsx';

const keyOf = ({ id }: PlatformRecord) => id;
const COLUMNS: readonly GridColumn<PlatformRecord>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 120 },
    cell: (lambda) => <Name lambda={lambda} />,
  },
  {
    id: 'runtime',
    header: 'Runtime',
    width: 84,
    cell: ({ properties }) => <Badge>{String(properties.runtime)}</Badge>,
  },
  {
    id: 'changed',
    header: 'Changed',
    width: 100,
    align: 'end',
    cell: ({ modified }) => <span className="text-muted">{modified && <Time at={modified.timestamp} />}</span>,
  },
];

/** Its name, and whether something of it is not saved. */
function Name({ lambda: { id, name } }: { lambda: PlatformRecord }) {
  const isCode = useValue(codeDrafts).has(id);
  const isEnv = useValue(variableDrafts).has(id);
  return (
    <>
      <span className="font-medium">{name}</span>
      {(isCode || isEnv) && <span className="ml-1.5 text-[12px] text-warn">not saved</span>}
    </>
  );
}

/** Every lambda, and a workbench for one of them. */
export default function LambdasScreen() {
  const id = usePlaceId();
  const [{ scope: scopeId, q = '', new: created }, change] = useSearch();
  const go = useGo();
  const { scope } = useScope();
  const lambdas = useAllOfType('lambdas');
  const rows = useMemo(() => matching(lambdas.records, q), [lambdas.records, q]);
  const keptQuery = useMemo(() => (q === '' ? {} : { q }), [q]);
  const select = useCallback((next: string) => go({ screen: 'lambdas', id: next, search: keptQuery }), [go, keptQuery]);
  const chosen = lambdas.records.find((lambda) => lambda.id === id);
  const nameOfGone = useLastName(id, chosen);
  const filter = useRef<HTMLDivElement>(null);
  useKeys([{ keys: '/', does: 'Filter the lambdas', run: () => filter.current?.querySelector('input')?.focus() }]);
  const clear = () => change({ q: undefined });
  const create = () => change({ new: 'lambda' }, { isNewStep: true });
  const list = (
    <>
      <div ref={filter} className="border-b border-line p-2">
        <FilterField
          label="Filter the lambdas"
          placeholder="Name or id"
          value={q}
          onChange={(next) => change({ q: next === '' ? undefined : next })}
        />
      </div>
      <DataGrid
        label="Lambdas"
        rows={rows}
        columns={COLUMNS}
        keyOf={keyOf}
        selectedKey={id}
        onSelect={select}
        hrefOf={(lambda) => hrefOf({ screen: 'lambdas', id: lambda.id, search: keptQuery }, scopeId)}
        isLoading={lambdas.isPending}
        error={lambdas.error}
        onRetry={lambdas.refetch}
        isFiltered={q !== '' && lambdas.records.length > 0}
        onClearFilter={clear}
        empty={
          <EmptyState title="No lambdas" text="A lambda runs your code when it is called. There is none here yet.">
            <Button icon={Plus} onPress={create}>
              New lambda
            </Button>
          </EmptyState>
        }
      />
    </>
  );
  return (
    <ScreenFrame
      title="Lambdas"
      bar={<span className="text-muted">{rows.length}</span>}
      actions={
        <Button icon={Plus} onPress={create}>
          New lambda
        </Button>
      }
    >
      <SplitPane
        name="lambdas"
        fixed="list"
        width={360}
        list={list}
        detailLabel="Workbench"
        detail={
          chosen ? (
            <Workbench key={chosen.id} lambda={chosen} />
          ) : lambdas.isPending ? (
            <Skeleton />
          ) : id === undefined ? (
            <EmptyState
              title="Choose a lambda"
              text="Its code, an event to try it with, its log and its endpoints show up here."
            />
          ) : (
            <GoneLambda key={id} id={id} name={nameOfGone} />
          )
        }
      />
      {created !== undefined && (
        <NewLambdaDialog
          parentId={(chosen && parentIdOf(chosen)) ?? scope.environment?.id}
          scope={scope.id}
          onClose={() => change({ new: undefined })}
        />
      )}
    </ScreenFrame>
  );
}

/** Those with the text in their name, or with this id. */
function matching(lambdas: readonly PlatformRecord[], text: string): readonly PlatformRecord[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return lambdas;
  return lambdas.filter(({ id, name }) => name.toLowerCase().includes(wanted) || id === wanted);
}

/** What the lambda of this id was called when it was last there. */
function useLastName(id: string | undefined, lambda: PlatformRecord | undefined): string | undefined {
  const [seen, setSeen] = useState<{ id: string; name: string }>();
  if (lambda && (seen?.id !== lambda.id || seen.name !== lambda.name)) setSeen({ id: lambda.id, name: lambda.name });
  return seen?.id === id ? seen?.name : undefined;
}
