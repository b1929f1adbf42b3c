import { useState } from 'react';
import type { Query } from '../../api/client.ts';
import type { TreePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type PlatformRecord, referenceId } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { NumberField, Select } from '../../components/fields.tsx';
import { CurlNote } from './curl-note.tsx';
import { useProviders } from './provider-field.tsx';
import { ResourcePicker } from './resource-picker.tsx';

export type ActionName = 'scale' | 'migrate' | 'promote' | 'disable' | 'enable' | 'redeploy' | 'initialize';

export interface ActionDialogProps {
  action: ActionName;
  location: TreePlace;
  record: PlatformRecord;
  onClose(): void;
}

const ACTION_TEXTS: Record<ActionName, { verb: string; text: string; done: string }> = {
  scale: {
    verb: 'Scale',
    text: 'Instances are started or stopped to reach this number. 0 suspends the container.',
    done: 'is being scaled',
  },
  migrate: {
    verb: 'Migrate',
    text: 'Creates a copy with a new ID on the other provider, switches the endpoints to it, then deletes the original.',
    done: 'is migrating',
  },
  promote: {
    verb: 'Promote',
    text: 'Creates a copy in the other environment, or updates the resource of the same name there. The original is kept.',
    done: 'is being promoted',
  },
  disable: {
    verb: 'Disable',
    text: 'Its password, tokens and keys are rejected until the account is enabled.',
    done: 'is disabled',
  },
  enable: { verb: 'Enable', text: 'Its password and keys are accepted again.', done: 'is enabled' },
  redeploy: {
    verb: 'Redeploy',
    text: 'Accepted without effect: providers are not deployed here.',
    done: 'was asked to redeploy',
  },
  initialize: {
    verb: 'Initialize',
    text: 'Creates missing default providers of root.',
    done: 'has its default providers',
  },
};

/** An action of the API on a resource, with the request that it is. */
export function ActionDialog({ action, location, record, onClose }: ActionDialogProps) {
  const { verb, text, done } = ACTION_TEXTS[action];
  const { num_instances: present, provider } = record.properties;
  const [count, setCount] = useState(typeof present === 'number' ? present : 1);
  const [target, setTarget] = useState<string>();
  const parent = location.path.at(-1);
  const type = location.resource.word === 'containers' ? 'CaaS' : 'Lambda';
  const providers = useProviders(action === 'migrate' ? (parent ?? location.resource).id : undefined, type);

  const { word, id, fqon } = location.resource;
  const isOfAccount = action === 'disable' || action === 'enable';
  const service = isOfAccount ? '/security/accounts' : `/meta/${fqon}/${word}`;
  const path = action === 'initialize' ? `/meta/${fqon}/providers/${action}` : `${service}/${id}/${action}`;
  const queries: Partial<Record<ActionName, Query>> = {
    scale: { numInstances: count },
    migrate: { provider: target },
    promote: { target },
  };
  const query = queries[action] ?? {};
  const isReady = !(action === 'migrate' || action === 'promote') || target !== undefined;
  const acting = useChange((_, send) => send('POST', path, undefined, query), {
    message: `${record.name} ${done}.`,
    onDone: onClose,
  });
  return (
    <Dialog
      title={`${verb} ${record.name}`}
      onClose={onClose}
      action={verb}
      onAction={acting.mutate}
      look={action === 'disable' ? 'danger' : 'primary'}
      isReady={isReady}
      making={acting}
    >
      <p className="mb-3 text-muted">{text}</p>
      {action === 'scale' && (
        <NumberField label="Instances" value={count} onChange={setCount} minValue={0} maxValue={1000} />
      )}
      {action === 'migrate' && (
        <Select
          label="To provider"
          options={(providers ?? []).filter(({ id }) => id !== referenceId(provider))}
          value={target}
          onChange={setTarget}
          description={providers?.length === 1 ? 'No other provider can run it.' : undefined}
        />
      )}
      {action === 'promote' && (
        <ResourcePicker
          label="To environment"
          collections={['environments']}
          value={target}
          onChange={(node) => setTarget(node?.id)}
        />
      )}
      {isReady && <CurlNote method="POST" path={path} query={query} />}
    </Dialog>
  );
}
