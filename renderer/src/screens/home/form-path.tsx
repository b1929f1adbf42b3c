import { ArrowRight } from 'lucide-react';
import { counted } from '../../components/amounts.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { Place } from '../../url.ts';
import type { Tour } from './use-tour.ts';

/** The way of a form of the website to the inbox of the CRM, each part a link; nothing without such a form. */
export function FormPath({ tour: { form, formUrl, leadCount } }: { tour: Tour }) {
  if (!form || formUrl === undefined) return null;
  const parts: { what: string; name: string; place?: Place }[] = [
    { what: 'Website', name: 'contact form' },
    { what: 'Gateway', name: `POST ${new URL(formUrl).pathname}`, place: { screen: 'gateway' } },
    { what: 'Lambda', name: form.name, place: { screen: 'lambdas', id: form.id } },
    { what: 'Mock CRM', name: counted(leadCount, 'lead'), place: { screen: 'leads' } },
  ];
  return (
    <ol aria-label="Way of a form" className="flex flex-wrap items-center gap-2">
      {parts.map(({ what, name, place }, index) => (
        <li key={what} className="flex items-center gap-2">
          {index > 0 && <ArrowRight aria-hidden size={16} className="shrink-0 text-faint" />}
          <span className="card px-3 py-1.5">
            <span className="eyebrow block">{what}</span>
            {place ? <PlaceLink to={place}>{name}</PlaceLink> : name}
          </span>
        </li>
      ))}
    </ol>
  );
}
