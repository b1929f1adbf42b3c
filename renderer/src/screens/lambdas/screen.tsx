import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { memberOf } from '../../../../server/model/json.ts';
import { failureOf } from '../../api/failure.ts';
import { OnResource } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { searchOptions, usePlace } from '../../api/tree.ts';
import { useAllOfType } from '../../api/use-all-of-type.ts';
import { useRead } from '../../api/use-read.ts';
import { type PlatformRecord, useScope } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { CodeEditor } from '../../components/code-editor.tsx';
import { Copy } from '../../components/copy.tsx';
import { EmptyState, ErrorState } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useDraftOf } from '../../draft-store.ts';
import { ListScreen } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useGo, usePlaceId, useSearch } from '../../url.ts';
import { codeDrafts } from './drafts.ts';
import { LAMBDA_COLUMNS, type LambdaRow, placeTextOf } from './lambda-columns.tsx';
import { NewLambdaDialog } from './new-lambda-dialog.tsx';
import { Workbench } from './workbench.tsx';

const keyOf = ({ record }: LambdaRow) => record.id;

export default function LambdasScreen() {
  const id = usePlaceId();
  const [{ q = '', sort, new: created }, change] = useSearch();
  const go = useGo();
  const { scope } = useScope();
  const lambdas = useLambdaRows();
  const rows = useMemo(() => matching(lambdas.rows, q), [lambdas.rows, q]);
  const keptQuery = useMemo(() => ({ ...(q !== '' && { q }), ...(sort !== undefined && { sort }) }), [q, sort]);
  const placeOf = useCallback(
    ({ record }: LambdaRow) => ({ screen: 'lambdas' as const, id: record.id, search: keptQuery }),
    [keptQuery],
  );
  const chosen = lambdas.records.find((lambda) => lambda.id === id);
  const lastName = useLastName(id, chosen);
  // With a single environment, there is no choice.
  const environments = useQuery(searchOptions({ collections: ['environments'], scope: scope.id, limit: 2 })).data;
  const onlyEnvironment = environments?.total === 1 ? environments.rows[0]?.id : undefined;
  const create = () => change({ new: 'lambda' }, { isNewStep: true });
  return (
    <ListScreen
      title="Lambdas"
      bar={<span className="text-muted">{lambdas.isPending ? '' : rows.length}</span>}
      actions={
        <Button icon={Plus} needs="lambda.create" onPress={create}>
          New lambda
        </Button>
      }
      name="lambdas"
      label="Lambdas"
      head={
        <div className="border-b border-line p-2">
          <FindField label="Filter the lambdas" placeholder="Name, environment or error" />
        </div>
      }
      list={{ ...lambdas, rows }}
      columns={LAMBDA_COLUMNS}
      order=""
      keyOf={keyOf}
      selectedKey={id}
      onSelect={(_id, row) => go(placeOf(row))}
      placeOf={placeOf}
      narrowedBy={['q']}
      hasAny={lambdas.records.length > 0}
      empty={
        <EmptyState title="No lambdas" text="A lambda runs your code when it is called. None exist here yet.">
          <Button icon={Plus} needs="lambda.create" onPress={create}>
            New lambda
          </Button>
        </EmptyState>
      }
      fixed="list"
      width={340}
      onClose={() => go({ screen: 'lambdas', search: keptQuery })}
      detailLabel="Workbench"
      detail={
        chosen ? (
          <OnResource target={chosen}>
            <Workbench key={chosen.id} lambda={chosen} />
          </OnResource>
        ) : id === undefined ? undefined : lambdas.isPending ? (
          <Skeleton />
        ) : (
          <DeletedLambda key={id} id={id} name={lastName} />
        )
      }
    >
      {created !== undefined && (
        <NewLambdaDialog
          parentId={
            (chosen && parentIdOf(chosen)) ?? scope.environment?.id ?? commonPlace(lambdas.records) ?? onlyEnvironment
          }
          starter={created}
          scope={scope.id}
          onClose={() => change({ new: undefined })}
        />
      )}
    </ListScreen>
  );
}

/** The id of the environment with the most lambdas, the likeliest for a new one. */
function commonPlace(lambdas: readonly PlatformRecord[]): string | undefined {
  const counts = new Map<string | undefined, number>();
  for (const lambda of lambdas) counts.set(parentIdOf(lambda), (counts.get(parentIdOf(lambda)) ?? 0) + 1);
  return [...counts].reduce<[string | undefined, number]>(
    (most, entry) => (entry[1] > most[1] ? entry : most),
    [undefined, 0],
  )[0];
}

/** Returns the rows with the text in their name, their location or their last error, or with this id. */
function matching(rows: readonly LambdaRow[], text: string): readonly LambdaRow[] {
  const searchText = text.trim().toLowerCase();
  if (searchText === '') return rows;
  return rows.filter(
    (row) =>
      row.record.id === searchText ||
      `${row.record.name} ${placeTextOf(row)} ${row.use?.lastFailure?.text ?? ''}`.toLowerCase().includes(searchText),
  );
}

/** Returns the name that the lambda of this id had when it was last there. */
function useLastName(id: string | undefined, lambda: PlatformRecord | undefined): string | undefined {
  const [lastSeen, setLastSeen] = useState<{ id: string; name: string }>();
  if (lambda && (lastSeen?.id !== lambda.id || lastSeen.name !== lambda.name))
    setLastSeen({ id: lambda.id, name: lambda.name });
  return lastSeen?.id === id ? lastSeen?.name : undefined;
}

/** Every lambda of the scope with its latest results. */
function useLambdaRows() {
  const lambdas = useAllOfType('lambdas');
  const use = useRead(keys.invocations, '/inspect/lambda-use', {}, { keepsLast: true });
  const environments = useAllOfType('environments').records;
  const rows = useMemo(() => {
    const byId = new Map(use.data?.lambdas.map((usage) => [usage.lambdaId, usage]));
    const workspaces = new Map(environments.map(({ id, properties }) => [id, memberOf(properties.parent, 'name')]));
    return lambdas.records.map(
      (record): LambdaRow => ({
        record,
        workspace: workspaces.get(parentIdOf(record) ?? ''),
        use: byId.get(record.id),
      }),
    );
  }, [lambdas.records, environments, use.data]);
  return { ...lambdas, rows };
}

/** Replaces the page of a deleted or unknown lambda; unsaved code is not lost. */
function DeletedLambda({ id, name }: { id: string; name: string | undefined }) {
  const locationQuery = usePlace(id);
  const isTaken = locationQuery.error !== null && failureOf(locationQuery.error).code === 403;
  const draft = useDraftOf(codeDrafts, id);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {isTaken ? (
        <ErrorState error={locationQuery.error} onRetry={() => void locationQuery.refetch()} />
      ) : (
        <EmptyState
          title={name === undefined ? 'Lambda not found' : `${name} was deleted or moved`}
          text={
            name === undefined
              ? 'It was deleted, or it is outside the scope.'
              : 'It was deleted or moved out of the scope while it was open. You can restore a deleted lambda in the history.'
          }
        >
          <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
        </EmptyState>
      )}
      {draft && (
        <section aria-label="Unsaved code" className="flex min-h-0 flex-1 flex-col border-t border-line">
          <div className="flex items-center gap-2 border-b border-line px-4 py-1">
            <h3 className="eyebrow">Your unsaved code</h3>
            <Copy text={draft.source} subject="code" />
            <Button className="ml-auto" onPress={() => codeDrafts.keep(id, undefined)}>
              Discard it
            </Button>
          </div>
          <div className="min-h-0 flex-1">
            <CodeEditor label="Unsaved code" value={draft.source} language="javascript" isReadOnly />
          </div>
        </section>
      )}
    </div>
  );
}
