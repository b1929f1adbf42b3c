import { useState } from 'react';
import type { RecordPath } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { createPath, kindOfWord } from '../../api/resource-kinds.ts';
import { usePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Select, TextField } from '../../components/fields.tsx';
import { toast } from '../../components/toasts.tsx';
import { noteStep } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useGo } from '../../url.ts';
import { ProviderChoice, useProviders } from '../resources/provider-field.tsx';
import { ResourcePicker } from '../resources/resource-picker.tsx';
import { AddressField } from './address-dialog.tsx';
import { codeOf } from './code-text.ts';
import { EndpointFields, OPEN_ENDPOINT, withOptions } from './endpoint-options.tsx';
import { canBePublic, makePublic, pathFor } from './public-address.ts';
import { STARTERS } from './starters.ts';

export interface NewLambdaDialogProps {
  /** Id of the place where it is to be, for a start. */
  parentId: string | undefined;
  /** Id of the code to begin with, from the address; another word: the first. */
  starter: string;
  /** Id of what that has to be below. */
  scope: string | undefined;
  onClose(): void;
}

export function NewLambdaDialog({
  parentId: firstParentId,
  starter: firstStarter,
  scope,
  onClose,
}: NewLambdaDialogProps) {
  const go = useGo();
  const [name, setName] = useState('');
  const [starterId, setStarterId] = useState(firstStarter);
  const starter = STARTERS.find(({ id }) => id === starterId) ?? STARTERS[0];
  const [chosenParentId, setParentId] = useState<string>();
  const parentId = chosenParentId ?? firstParentId;
  const [typedPath, setPath] = useState<string>();
  const [options, setOptions] = useState(OPEN_ENDPOINT);
  const [providerId, setProviderId] = useState<string>();
  const location = usePlace(parentId).data;
  const parent = location?.resource;
  const providers = useProviders(parent?.id, 'Lambda');
  const provider = providers?.find(({ id }) => id === providerId) ?? providers?.[0];
  const creation = useChange(
    async ({ path, body }: { path: RecordPath; body: unknown }, send) => {
      const lambda = await send<PlatformRecord>('POST', path, body);
      if (!canBePublic(location) || publicPath === '') return { lambda, hasAddress: false };
      try {
        const answering = { ...starter.answering, ...withOptions({}, options) };
        await makePublic({ lambda, location, path: publicPath, answering, send });
      } catch (thrown) {
        // The lambda exists: its address can be added on the Endpoints tab.
        const reason = failureOf(thrown).message;
        toast({ tone: 'error', text: `${lambda.name} was created, but not its public address: ${reason}` });
      }
      return { lambda, hasAddress: true };
    },
    {
      message: ({ lambda }) => `${lambda.name} was created.`,
      onDone: () => noteStep('own-form'),
      onShown: ({ lambda: { id }, hasAddress }) =>
        go({ screen: 'lambdas', id, ...(hasAddress && { search: { tab: 'endpoints' } }) }, { isReplacing: true }),
    },
  );
  const trimmedName = name.trim();
  const publicPath = typedPath ?? (starter.answering && trimmedName !== '' ? pathFor(trimmedName) : '');
  const isReady =
    trimmedName !== '' &&
    parent !== undefined &&
    provider !== undefined &&
    (publicPath === '' || publicPath.startsWith('/'));
  const create = () => {
    if (!isReady) return;
    const { code, env } = starter;
    const properties = {
      provider: { id: provider.id },
      runtime: 'nodejs',
      code_type: 'inline',
      handler: 'run',
      code: codeOf(code),
      ...(env && { env }),
    };
    creation.mutate({ path: `/meta${createPath(parent, 'lambdas')}`, body: { name: trimmedName, properties } });
  };
  const failure = creation.error ? failureOf(creation.error) : undefined;
  return (
    <Dialog
      title="New lambda"
      onClose={onClose}
      action="Create lambda"
      onAction={create}
      isReady={isReady}
      making={creation}
    >
      <div className="flex flex-col gap-3">
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          error={failure?.details.find(({ pointer }) => pointer === '/name')?.message}
        />
        <ResourcePicker
          label="In"
          collections={kindOfWord('lambdas').parents}
          scope={scope}
          value={parentId}
          onChange={(node) => setParentId(node?.id)}
        />
        <Select label="Code template" options={STARTERS} value={starter.id} onChange={setStarterId} />
        {canBePublic(location) && <AddressField location={location} path={publicPath} onChange={setPath} isOptional />}
        {canBePublic(location) && publicPath !== '' && <EndpointFields options={options} onChange={setOptions} />}
        <ProviderChoice
          providers={providers}
          value={provider?.id}
          onChange={setProviderId}
          noneText="no lambda provider is available here; create one first"
        />
        <p className="text-muted">
          Node.js, one file of code, handler <code>run</code>. For a package, or another runtime:{' '}
          <PlaceLink to={{ screen: 'resources', id: parentId, search: { new: 'lambdas' } }}>advanced form</PlaceLink>.
        </p>
      </div>
    </Dialog>
  );
}
