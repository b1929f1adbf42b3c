import { kindOf, kindOfWord, parentIdOf, recordPath } from '../../api/resource-kinds.ts';
import { type TypeCounts, useSubtree } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useGo } from '../../url.ts';
import { typedPath } from '../containers/container-place.ts';
import { CurlNote } from './curl-note.tsx';
import { drafts } from './use-draft.ts';

export interface DeleteDialogProps {
  record: PlatformRecord;
  onClose(): void;
  /** Called before it is gone, so that its going is no surprise. */
  onDeleting(): void;
}

const BOX = 'mt-2 max-h-60 overflow-auto rounded-md border border-line';

export function DeleteDialog({ record, onClose, onDeleting }: DeleteDialogProps) {
  const go = useGo();
  const below = useSubtree(record.id, true);
  const kind = kindOf(record);
  const isTarget = kind.collection === 'lambdas' || kind.collection === 'containers';
  const endpoints = useWorld<PlatformRecord[]>(
    `${typedPath(record, kind.collection)}/apiendpoints`,
    { expand: true },
    isTarget,
  );
  const count = below.data?.total ?? 0;
  const path = `/meta${recordPath(record)}`;
  const query = count > 0 ? { force: true } : undefined;
  const deletion = useChange(
    (_, send) => {
      onDeleting();
      return send('DELETE', path, undefined, query);
    },
    {
      message: `${record.name} was deleted.`,
      onDone: () => {
        onClose();
        drafts.keep(record.id, undefined);
        go({ screen: 'resources', id: parentIdOf(record) });
      },
    },
  );
  return (
    <Dialog
      title={`Delete ${kind.title} ${record.name}`}
      isAlert
      onClose={onClose}
      action={count === 0 ? `Delete ${kind.title}` : `Delete all ${(count + 1).toLocaleString('en')}`}
      onAction={deletion.mutate}
      look="destroy"
      making={{ ...deletion, isPending: deletion.isPending || below.isPending || endpoints.isLoading }}
    >
      {below.isPending ? (
        <Skeleton label="Finding resources below it" rows={2} />
      ) : count === 0 ? (
        <p>No other resources are deleted.</p>
      ) : (
        <>
          <p>
            This also deletes: <span className="font-medium">{countsText(below.data?.types ?? {})}</span>.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
          <section tabIndex={0} aria-label="Also deleted" className={BOX}>
            <ul>
              {below.data?.rows.map((other) => (
                <li key={other.id} className="flex h-7 items-center gap-2 border-b border-line/60 px-3 last:border-0">
                  <span className="truncate">{other.name}</span>
                  <span className="text-muted">{kindOfWord(other.word).title}</span>
                </li>
              ))}
              {count > (below.data?.rows.length ?? 0) && (
                <li className="flex h-7 items-center px-3 text-muted">
                  and {(count - (below.data?.rows.length ?? 0)).toLocaleString('en')} more
                </li>
              )}
            </ul>
          </section>
        </>
      )}
      {endpoints.data && endpoints.data.length > 0 && (
        <p className="mt-2">
          {counted(endpoints.data.length, 'endpoint')} {endpoints.data.length === 1 ? 'stops' : 'stop'} working and will
          return 503:{' '}
          <span className="mono break-words">{endpoints.data.map((endpoint) => addressOf(endpoint)).join(', ')}</span>
        </p>
      )}
      <CurlNote method="DELETE" path={path} {...(query && { query })} />
    </Dialog>
  );
}

/** The path of an endpoint's public address, or its name. */
function addressOf({ name, properties: { public_url: url } }: PlatformRecord): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).pathname : name;
}

/** `2 environments, 1 lambda` */
function countsText(types: TypeCounts): string {
  return Object.entries(types)
    .map(([collectionName, count]) => {
      const kind = kindOfWord(collectionName as keyof TypeCounts); // the members of a TypeCounts are type words
      return counted(count, kind.title, kind.plural.toLowerCase());
    })
    .join(', ');
}
