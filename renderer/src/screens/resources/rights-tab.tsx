import { RotateCcw, ShieldPlus, Users, X } from 'lucide-react';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import type { TreeNode } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type Reference, useWorld } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState, FailureNote } from '../../components/empty-state.tsx';
import { FilterField, Select } from '../../components/fields.tsx';
import { Pending } from '../../components/pending.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { CurlNote } from './curl-note.tsx';
import { ResourcePicker } from './resource-picker.tsx';
import { hasRoles, RolesDialog } from './roles-dialog.tsx';

interface Entitlement {
  id: string;
  name: string;
  properties: { action: string; identities: Reference[] };
}

/** The permissions for this resource and everything below (D-115): grants and revokes them. */
export function RightsTab({ resource }: { resource: TreeNode }) {
  const { word: collection, id, fqon } = resource;
  const list = useWorld<Entitlement[]>(
    collection === 'orgs' ? `/${fqon}/entitlements` : `/${fqon}/${collection}/${id}/entitlements`,
    { expand: true },
  );
  const [{ right: filter = '' }, change] = useSearch();
  const [isGranting, setGranting] = useState(false);
  const [isGivingRoles, setGivingRoles] = useState(false);
  const path = (entitlement: Entitlement) => `/meta/${fqon}/entitlements/${entitlement.id}`;
  const changing = useChange(
    ({ entitlement, identities }: { entitlement: Entitlement; identities: string[] | undefined }) =>
      identities === undefined
        ? send('DELETE', path(entitlement))
        : send('PUT', path(entitlement), written(entitlement, identities)),
  );
  if (!list.data) return <Pending query={list} />;
  const visibleEntitlements = list.data.filter(({ properties }) =>
    properties.action.includes(filter.trim().toLowerCase()),
  );
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <FilterField
          label="Filter permissions"
          placeholder="container.view"
          value={filter}
          onChange={(next) => change({ right: next === '' ? undefined : next })}
          className="w-56"
        />
        <Button
          icon={ShieldPlus}
          needs="entitlement.update"
          isDisabled={list.data.length === 0}
          onPress={() => setGranting(true)}
        >
          Grant
        </Button>
        {hasRoles(collection) && (
          <Button
            icon={Users}
            needs="entitlement.update"
            isDisabled={list.data.length === 0}
            onPress={() => setGivingRoles(true)}
          >
            Roles
          </Button>
        )}
        <p className="text-muted">Permissions granted here also apply to everything below.</p>
      </div>
      <FailureNote error={changing.error} className="m-3" />
      {list.data.length === 0 && (
        <EmptyState
          needs="entitlement.view"
          title="No permissions"
          text="No user or group was granted a permission here."
        />
      )}
      <ul aria-label="Permissions">
        {visibleEntitlements.map((entitlement) => {
          const { action, identities } = entitlement.properties;
          return (
            <li
              key={entitlement.id}
              className="flex min-h-8 flex-wrap items-center gap-x-3 border-b border-line/60 px-4 py-0.5"
            >
              <span className="mono w-48 shrink-0">{action}</span>
              <span className="flex flex-1 flex-wrap gap-1.5">
                {identities.map(({ id: identity, name, href }) => (
                  <span key={identity} className="flex items-center gap-1 rounded border border-line-strong pl-2">
                    <PlaceLink to={{ screen: 'resources', id: identity }} className="max-w-48 truncate hover:underline">
                      {name ?? identity}
                    </PlaceLink>
                    {href?.includes('/groups/') && <span className="text-small text-muted">group</span>}
                    <IconButton
                      icon={X}
                      needs="entitlement.update"
                      label={`Take ${action} from ${name ?? identity}`}
                      className="size-6"
                      onPress={() =>
                        changing.mutate({
                          entitlement,
                          identities: identities
                            .map((reference) => reference.id)
                            .filter((identityId) => identityId !== identity),
                        })
                      }
                    />
                  </span>
                ))}
                {identities.length === 0 && <span className="text-faint">only root</span>}
              </span>
              <IconButton
                icon={RotateCcw}
                needs="entitlement.update"
                label={`Back to what ${action} inherits`}
                onPress={() => changing.mutate({ entitlement, identities: undefined })}
              />
            </li>
          );
        })}
      </ul>
      {isGivingRoles && <RolesDialog resource={resource} onClose={() => setGivingRoles(false)} />}
      {isGranting && <GrantDialog entitlements={list.data} pathOf={path} onClose={() => setGranting(false)} />}
    </div>
  );
}

interface GrantDialogProps {
  entitlements: readonly Entitlement[];
  pathOf(entitlement: Entitlement): string;
  onClose(): void;
}

function GrantDialog({ entitlements, pathOf, onClose }: GrantDialogProps) {
  const [entitlementId, setEntitlementId] = useState<string>();
  const [identity, setIdentity] = useState<string>();
  const entitlement = entitlements.find(({ id }) => id === entitlementId);
  const request =
    entitlement && identity !== undefined
      ? {
          method: 'PUT' as const,
          path: pathOf(entitlement),
          body: written(entitlement, [
            ...new Set([...entitlement.properties.identities.map(({ id }) => id), identity]),
          ]),
        }
      : undefined;
  const granting = useChange(
    (grantRequest: NonNullable<typeof request>) => send(grantRequest.method, grantRequest.path, grantRequest.body),
    {
      onDone: onClose,
    },
  );
  return (
    <Dialog
      title="Grant a permission"
      onClose={onClose}
      action="Grant permission"
      onAction={() => request && granting.mutate(request)}
      isReady={request !== undefined}
      making={granting}
    >
      <div className="flex flex-col gap-3">
        <Select
          label="Action"
          options={entitlements.map(({ id, properties }) => ({ id, text: properties.action }))}
          value={entitlementId}
          onChange={setEntitlementId}
        />
        <ResourcePicker
          label="To a user or group"
          collections={['users', 'groups']}
          value={identity}
          onChange={(node) => setIdentity(node?.id)}
        />
        {request && <CurlNote {...request} />}
      </div>
    </Dialog>
  );
}

function written({ id, name, properties }: Entitlement, identities: readonly string[]) {
  return { id, name, properties: { action: properties.action, identities } };
}
