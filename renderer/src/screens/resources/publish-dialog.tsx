import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { kindOf } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { PublishPlan } from './publish-plan.tsx';

interface PublishDialogProps {
  direction: 'pull' | 'push';
  localItem: PublishPlace;
  onClose(): void;
}

/** The last destination, until the page is closed; credentials are never stored. */
let lastAddress = '';

/** Copies lambdas to or from another platform: first the plan, then the change. */
export function PublishDialog({ direction, localItem, onClose }: PublishDialogProps) {
  const [metaUrl, setMetaUrl] = useState(lastAddress);
  const [path, setPath] = useState(localItem.path);
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [agreed, setAgreed] = useState<ReadonlySet<string>>(new Set());
  const [isUnticked, setUnticked] = useState(false);
  const request = {
    direction,
    metaUrl: metaUrl.trim(),
    path: path.trim(),
    credentials: { user: user.trim(), password },
  };
  const at = `/inspect/publishing/${localItem.environmentId}` as const;
  const planning = useMutation({
    mutationFn: () => {
      lastAddress = request.metaUrl;
      return send('POST', `${at}/plan`, request);
    },
    onSuccess: () => {
      setAgreed(new Set());
      setUnticked(false);
    },
  });
  const plan = planning.data;
  const publishing = useChange(
    (_, recordingSend) =>
      recordingSend('POST', `${at}/carry`, { ...request, seen: plan?.seen, overwrite: [...agreed] }),
    {
      message: ({ done, failed }) =>
        failed ? undefined : `${done.length} ${direction === 'push' ? 'pushed' : 'pulled'}: ${done.join(', ')}.`,
      onDone: ({ failed }) => {
        if (!failed) onClose();
      },
    },
  );
  const change = (set: (text: string) => void) => (text: string) => {
    set(text);
    planning.reset();
    publishing.reset();
  };
  const todo = plan?.steps.filter(({ action }) => action !== 'unchanged') ?? [];
  const isBlocked =
    todo.some(({ id, conflict, missing }) => missing !== undefined || (conflict !== undefined && !agreed.has(id))) ||
    (plan?.checks.some(({ isGood }) => !isGood) && !isUnticked);
  const failed = publishing.data?.failed;
  const isPlanned = plan !== undefined && failed === undefined;
  const action = todo.length === 0 ? 'Nothing to do' : `${direction === 'push' ? 'Push' : 'Pull'} ${todo.length}`;
  const showPlan = () => {
    publishing.reset();
    planning.mutate();
  };
  return (
    <Dialog
      title={
        direction === 'push'
          ? `Push ${localItem.name} to a real platform`
          : `Pull ${localItem.name} from a real platform`
      }
      onClose={onClose}
      width="large"
      action={isPlanned ? action : 'Show the plan'}
      onAction={isPlanned ? publishing.mutate : showPlan}
      isReady={
        isPlanned
          ? todo.length > 0 && !isBlocked
          : [request.metaUrl, request.path, request.credentials.user, password].every((text) => text !== '')
      }
      making={{ isPending: (isPlanned ? publishing : planning).isPending, error: publishing.error ?? planning.error }}
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField
          label="Address of its resource service"
          placeholder="https://meta.example.com"
          isMono
          value={metaUrl}
          onChange={change(setMetaUrl)}
        />
        <TextField
          label="There"
          description="Organization / workspace / environment, by name"
          isMono
          value={path}
          onChange={change(setPath)}
        />
        <TextField label="API key, or user name" autoComplete="off" value={user} onChange={change(setUser)} />
        <TextField
          label="Its secret, or password"
          description="Used for this plan, never stored"
          type="password"
          autoComplete="off"
          value={password}
          onChange={change(setPassword)}
        />
      </div>
      {failed && (
        <p role="alert" className="mt-3 text-error">
          {failed.step}: {failed.sentence}. Done: {publishing.data?.done.join(', ') || 'nothing'}; not done:{' '}
          {publishing.data?.notDone.join(', ')}. Show the plan again to continue.
        </p>
      )}
      {isPlanned && (
        <PublishPlan plan={plan} agreed={agreed} onAgree={setAgreed} isUnticked={isUnticked} onUnticked={setUnticked} />
      )}
    </Dialog>
  );
}

/** The item that is copied, with the path that it probably has on the other platform. */
interface PublishPlace {
  name: string;
  environmentId: string;
  /** `fqon/workspace/environment`, with the lambda or API if it is one. */
  path: string;
}

/** Returns the item for an environment, or for a lambda or an API in one; undefined for everything else. */
export function publishPlaceOf(
  { path, ...location }: Pick<TreePlace, 'path' | 'resource'>,
  record: PlatformRecord,
): PublishPlace | undefined {
  const { collection } = kindOf(record);
  if (collection !== 'environments' && collection !== 'lambdas' && collection !== 'apis') return undefined;
  const fullPath = collection === 'environments' ? [...path, location.resource] : path;
  const environment = fullPath.at(-1);
  if (environment?.word !== 'environments') return undefined;
  // Paths contain the root organization only where it contains the workspace itself.
  const organizations = fullPath.filter((node) => node.word === 'orgs').map(({ name }) => name);
  const below = organizations.length > 1 ? organizations.slice(1) : organizations;
  const workspace = fullPath.find((node) => node.word === 'workspaces');
  const part = collection === 'environments' ? '' : `/${collection}/${record.name}`;
  return {
    name: record.name,
    environmentId: environment.id,
    path: `${below.join('.')}/${workspace?.name ?? ''}/${environment.name}${part}`,
  };
}
