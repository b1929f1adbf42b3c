import type { LambdaUse } from '../../../../server/api/routes/recorded.ts';
import { memberOf } from '../../../../server/model/json.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { shareText } from '../../components/amounts.ts';
import type { GridColumn } from '../../components/data-grid.tsx';
import { Badge, State } from '../../components/state.tsx';
import { useHasDraft } from '../../draft-store.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { codeDrafts, variableDrafts } from './drafts.ts';

/** A lambda with its latest results, if it has run. */
export interface LambdaRow {
  record: PlatformRecord;
  /** Name of the workspace; undefined until it is read, or if the user may not view the environment. */
  workspace: unknown;
  use: LambdaUse | undefined;
}

/** Returns the location of a lambda as text: `demo / website / development`. */
export function placeTextOf({ record: { properties, org }, workspace }: LambdaRow): string {
  const parent = memberOf(properties.parent, 'id') !== org.id && memberOf(properties.parent, 'name');
  const names = [org.properties?.fqon ?? org.name, workspace, parent];
  return names.filter(Boolean).join(' / ');
}

/** Columns that distinguish lambdas; next to an open lambda there is space for the first two or three. */
export const LAMBDA_COLUMNS: readonly GridColumn<LambdaRow>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 120 },
    sortBy: ({ record }) => record.name.toLowerCase(),
    cell: ({ record }) => <Name lambda={record} />,
  },
  {
    id: 'state',
    header: 'Last call',
    width: 132,
    sortBy: ({ use }) => stateOf(use),
    cell: ({ use }) => <LastCall use={use} />,
  },
  {
    id: 'failed',
    header: 'Failed',
    width: 72,
    align: 'end',
    hideOrder: 1,
    sortBy: ({ use }) => use && use.failed / use.calls,
    cell: ({ use }) =>
      use && (
        <span className={use.failed > 0 ? 'text-error' : 'text-muted'} title={`${use.failed} of ${use.calls}`}>
          {shareText(use.failed / use.calls)}
        </span>
      ),
  },
  {
    id: 'calls',
    header: 'Calls',
    width: 64,
    align: 'end',
    hideOrder: 3,
    sortBy: ({ use }) => use?.calls ?? 0,
    cell: ({ use }) => (use?.calls ?? 0).toLocaleString('en'),
  },
  {
    id: 'place',
    header: 'Environment',
    width: { share: 2, minWidth: 150 },
    hideOrder: 2,
    isMuted: true,
    text: placeTextOf,
  },
  {
    id: 'error',
    header: 'Last error',
    width: { share: 3, minWidth: 190 },
    hideOrder: 4,
    sortBy: ({ use }) => use?.lastFailure?.at,
    cell: ({ use }) =>
      use?.lastFailure && (
        <PlaceLink
          to={{ screen: 'invocations', search: { sel: use.lastFailure.executionId } }}
          className="relative z-1 text-error hover:underline"
        >
          <span title={use.lastFailure.text}>
            <Time at={use.lastFailure.at} />: {use.lastFailure.text}
          </span>
        </PlaceLink>
      ),
  },
  {
    id: 'runtime',
    header: 'Runtime',
    width: 84,
    hideOrder: 6,
    sortBy: ({ record }) => String(record.properties.runtime),
    cell: ({ record }) => <Badge>{String(record.properties.runtime)}</Badge>,
  },
  {
    id: 'changed',
    header: 'Changed',
    width: 100,
    align: 'end',
    hideOrder: 5,
    sortBy: ({ record }) => record.modified?.timestamp,
    isMuted: true,
    cell: ({ record: { modified } }) => modified && <Time at={modified.timestamp} />,
  },
];

/** Sorted by urgency. */
function stateOf(use: LambdaUse | undefined): number {
  if (!use) return 0;
  return use.lastFailure?.executionId === use.last.executionId ? 2 : 1;
}

function LastCall({ use }: Pick<LambdaRow, 'use'>) {
  const state = stateOf(use);
  if (state === 0) return <State is="idle">never invoked</State>;
  return state === 2 ? <State is="error">failed</State> : <State is="ok">ok</State>;
}

/** Its name, and whether something of it is not saved. */
function Name({ lambda: { id, name } }: { lambda: PlatformRecord }) {
  const isCode = useHasDraft(codeDrafts, id);
  const isEnv = useHasDraft(variableDrafts, id);
  return (
    <>
      <span className="font-medium">{name}</span>
      {(isCode || isEnv) && <span className="ml-1.5 text-small text-warn">not saved</span>}
    </>
  );
}
