import { Waypoints, X } from 'lucide-react';
import { IconButton } from '../parts/button.tsx';
import { deedOf } from '../screens/leads/rule-words.ts';
import { useOutboundRules } from '../screens/leads/use-outbound-rules.ts';
import { PlaceLink } from './place-link.tsx';

/** More are counted only. */
const MAX_SHOWN = 2;

/** Every outbound rule that holds now, each with what ends it: what is switched on is in view. */
export function ActiveRules() {
  const { query, change } = useOutboundRules();
  const rules = query.data?.rules ?? [];
  const active = rules.filter(({ enabled }) => enabled);
  if (active.length === 0) return null;
  const end = (id: string) => change.mutate(rules.map((rule) => (rule.id === id ? { ...rule, enabled: false } : rule)));
  return (
    <ul aria-label="Outbound rules that are on" className="flex min-w-0 items-center gap-1.5">
      {active.slice(0, MAX_SHOWN).map((rule) => (
        <li
          key={rule.id}
          className="flex h-6 min-w-0 items-center rounded-full border border-warn/50 bg-warn-soft pl-2 text-[12px] text-warn"
        >
          <Waypoints aria-hidden size={12} className="mr-1.5 shrink-0" />
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }} className="truncate hover:underline">
            {rule.host}: {deedOf(rule)}
          </PlaceLink>
          <IconButton
            icon={X}
            label={`End the rule for ${rule.host}: ${deedOf(rule)}`}
            isDisabled={change.isPending}
            onPress={() => end(rule.id)}
            className="size-6 scale-85"
          />
        </li>
      ))}
      {active.length > MAX_SHOWN && (
        <li className="shrink-0 text-[12px] text-warn">
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }} className="hover:underline">
            {active.length - MAX_SHOWN} more
          </PlaceLink>
        </li>
      )}
    </ul>
  );
}
