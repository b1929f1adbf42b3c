import type { Operation } from 'fast-json-patch';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { memberOf } from '../../../../server/model/json.ts';
import { pointerTo } from '../../../../server/model/patch/pointer.ts';
import { failureOf } from '../../api/failure.ts';
import { keys } from '../../api/query-client.ts';
import { createPath, kindOfWord, parentIdOf, recordPath } from '../../api/resource-kinds.ts';
import { usePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ProviderChoice, useProviders } from '../resources/provider-field.tsx';
import { SecretField } from '../resources/secret-field.tsx';

export interface NewSecretProps {
  lambda: PlatformRecord;
  nameFault(name: string): string | undefined;
}

/** A button that creates a secret for the lambda, where its parent can have secrets. */
export function NewSecret(props: NewSecretProps) {
  const [isCreating, setCreating] = useState(false);
  const parent = usePlace(parentIdOf(props.lambda)).data?.resource;
  if (!parent || !kindOfWord('secrets').parents.includes(parent.word)) return null;
  return (
    <>
      <Button icon={KeyRound} look="quiet" needs="lambda.update" onPress={() => setCreating(true)}>
        New secret
      </Button>
      {isCreating && <NewSecretDialog {...props} parent={parent} onClose={() => setCreating(false)} />}
    </>
  );
}

export function BoundSecrets({ lambda }: { lambda: PlatformRecord }) {
  const mounts = mountsOf(lambda);
  if (mounts.length === 0) return null;
  return (
    <section aria-label="Secrets" className="border-b border-line">
      <h3 className="px-4 py-1.5 text-muted">Secrets: their values are never shown</h3>
      <ul>
        {mounts.map((mount, index) => (
          <MountRow key={String(memberOf(mount, 'path'))} lambda={lambda} mount={mount} index={index} />
        ))}
      </ul>
    </section>
  );
}

function mountsOf({ properties: { secrets } }: PlatformRecord): unknown[] {
  return Array.isArray(secrets) ? secrets : [];
}

function MountRow({ lambda, mount, index }: { lambda: PlatformRecord; mount: unknown; index: number }) {
  const [target, secretId, item] = ['path', 'secret_id', 'secret_key'].map((name) =>
    String(memberOf(mount, name) ?? ''),
  );
  const { data: secret } = useWorld<PlatformRecord>(`/root/resources/${secretId}`);
  const path = pointerTo(['properties', 'secrets', String(index)]);
  const removal = useChange(
    (_, send) =>
      send('PATCH', `/meta${recordPath(lambda)}`, [
        { op: 'test', path, value: mount },
        { op: 'remove', path },
      ] as Operation[]),
    { message: `${lambda.name} no longer gets ${target}.`, topic: keys.world, refusal: 'The secret is still bound: ' },
  );
  return (
    <li className="flex h-[34px] items-center gap-2 border-t border-line/55 px-4">
      <span className="mono w-[30%] truncate" title={target}>
        {target}
      </span>
      <span className="min-w-0 flex-1 truncate text-muted">
        {secret ? (
          <PlaceLink to={{ screen: 'resources', id: secret.id }}>secret {secret.name}</PlaceLink>
        ) : (
          'a secret you cannot view'
        )}
        {item && `, item ${item}`}
      </span>
      <IconButton icon={Trash2} needs="lambda.update" label={`Unbind ${target}`} onPress={() => removal.mutate()} />
    </li>
  );
}

interface NewSecretDialogProps extends NewSecretProps {
  parent: Parameters<typeof createPath>[0] & { name: string };
  onClose(): void;
}

/** Creates a secret with one item, and binds it to a variable of the lambda. */
function NewSecretDialog({ lambda, parent, nameFault, onClose }: NewSecretDialogProps) {
  const [variable, setVariable] = useState('');
  const [value, setValue] = useState('');
  const [typedName, setName] = useState<string>();
  const [providerId, setProviderId] = useState<string>();
  const providers = useProviders(parent.id, 'CaaS');
  const provider = providers?.find(({ id }) => id === providerId) ?? providers?.[0];
  const name = typedName ?? secretNameFor(variable);
  const creation = useChange(
    async (_, send) => {
      const item = { key: variable, value, encoding: 'text' };
      const properties = { provider: { id: provider?.id }, items: [item] };
      const { id } = await send<PlatformRecord>('POST', `/meta${createPath(parent, 'secrets')}`, { name, properties });
      const mount = { mount_type: 'env', secret_id: id, path: variable, secret_key: variable };
      const path = '/properties/secrets';
      const patch: Operation[] = Array.isArray(lambda.properties.secrets)
        ? [{ op: 'add', path: `${path}/-`, value: mount }]
        : [{ op: 'add', path, value: [mount] }];
      await send('PATCH', `/meta${recordPath(lambda)}`, patch);
    },
    { message: `${lambda.name} gets ${variable} from the new secret ${name}.`, topic: keys.world, onShown: onClose },
  );
  const fault = nameFault(variable);
  const failure = creation.error ? failureOf(creation.error) : undefined;
  return (
    <Dialog
      title={`New secret for ${lambda.name}`}
      onClose={onClose}
      action="Create and bind"
      onAction={() => creation.mutate()}
      isReady={variable !== '' && fault === undefined && name !== '' && provider !== undefined}
      making={creation}
    >
      <div className="flex flex-col gap-3">
        <TextField label="Variable" isMono placeholder="NAME" value={variable} onChange={setVariable} error={fault} />
        <SecretField label="Value" isMono value={value} onChange={setValue} />
        <TextField
          label={`Secret in ${parent.name}`}
          isMono
          value={name}
          onChange={setName}
          error={failure?.details.find(({ pointer }) => pointer === '/name')?.message}
        />
        <ProviderChoice
          providers={providers}
          value={provider?.id}
          onChange={setProviderId}
          noneText="no container provider is available here; create one first"
        />
        <p className="text-muted">
          The lambda reads it as <code>process.env.{variable || 'NAME'}</code> from the next invocation on. The platform
          never shows the value.
        </p>
      </div>
    </Dialog>
  );
}

/** A name that the platform accepts for a secret, from that of its variable. */
function secretNameFor(variable: string): string {
  return variable
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
