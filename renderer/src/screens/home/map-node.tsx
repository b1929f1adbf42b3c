import {
  Box,
  CircleX,
  Ellipsis,
  GitBranch,
  Globe,
  Inbox,
  type LucideIcon,
  Mail,
  SquareFunction,
  User,
  Users,
  Waypoints,
} from 'lucide-react';
import type { MapColumn, MapNode } from '../../../../server/api/routes/live-map.ts';
import { counted } from '../../components/amounts.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { WindowLocation } from '../../url.ts';

const ICONS: Readonly<Record<MapNode['kind'], LucideIcon>> = {
  user: User,
  caller: Users,
  endpoint: Waypoints,
  unpublished: Waypoints,
  lambda: SquareFunction,
  container: Box,
  crm: Inbox,
  mail: Mail,
  scm: GitBranch,
  host: Globe,
  deleted: CircleX,
  more: Ellipsis,
};
const ALL: Readonly<Record<MapColumn, WindowLocation>> = {
  callers: { screen: 'gateway' },
  endpoints: { screen: 'gateway' },
  targets: { screen: 'lambdas' },
  outside: { screen: 'invocations', search: { list: 'outbound' } },
};

function locationOf({ kind, column, resourceId, name }: MapNode): WindowLocation {
  if (kind === 'lambda') return { screen: 'lambdas', id: resourceId };
  if (kind === 'container') return { screen: 'containers', search: { sel: resourceId } };
  if (kind === 'user') return { screen: 'resources', id: resourceId };
  if (kind === 'endpoint') return { screen: 'gateway', search: { endpoint: resourceId } };
  if (kind === 'crm') return { screen: 'leads' };
  if (kind === 'mail') return { screen: 'mails' };
  if (kind === 'scm') return { screen: 'pipelines' };
  if (kind === 'host') return { screen: 'invocations', search: { list: 'outbound', q: `url:${name}` } };
  if (kind === 'deleted' && column === 'targets') return { screen: 'invocations' };
  return ALL[column];
}

function failureLocation({ executionId, requestSeq }: NonNullable<MapNode['lastFailure']>): WindowLocation {
  if (executionId !== undefined) return { screen: 'invocations', search: { sel: executionId } };
  return { screen: 'gateway', search: { sel: String(requestSeq) } };
}

/** The whole card is one of the links: the one to the failed record, if there is one. */
const COVERING = 'after:absolute after:inset-0 after:rounded-lg';

export function MapNodeCard({ node }: { node: MapNode }) {
  const { kind, name, requests, isFailing } = node;
  const Icon = isFailing ? CircleX : ICONS[kind];
  return (
    <>
      <Icon aria-hidden size={15} strokeWidth={1.7} className={`shrink-0 ${isFailing ? 'text-error' : 'text-faint'}`} />
      <span className="flex min-w-0 flex-col leading-tight">
        <PlaceLink
          to={locationOf(node)}
          className={`truncate font-medium hover:text-accent ${isFailing ? 'relative z-10 self-start max-w-full' : COVERING}`}
        >
          {name}
        </PlaceLink>
        <span className="flex gap-1.5 text-small whitespace-nowrap text-muted">
          {requests === 0 ? 'no requests' : counted(requests, 'request')}
          <FailureLink node={node} className={isFailing ? COVERING : 'relative z-10'} />
        </span>
      </span>
    </>
  );
}

export function FailureLink({ node, className = '' }: { node: MapNode; className?: string }) {
  const { failed, lastFailure, name } = node;
  if (failed === 0 || !lastFailure) return null;
  return (
    <PlaceLink
      to={failureLocation(lastFailure)}
      label={`${failed.toLocaleString('en')} failed: open the newest failure of ${name}`}
      className={`font-medium text-error hover:underline ${className}`}
    >
      {failed.toLocaleString('en')} failed
    </PlaceLink>
  );
}
