import { ArrowRight } from 'lucide-react';
import { counted } from '../../components/amounts.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { WindowLocation } from '../../url.ts';
import type { Tour } from './use-tour.ts';

/** The way of a form of the website to the inbox of the CRM, each part a link; nothing without such a form. */
export function FormPath({ tour: { form, formUrl, leadCount } }: { tour: Tour }) {
  if (!form || formUrl === undefined) return null;
  const parts: { label: string; name: string; location?: WindowLocation }[] = [
    { label: 'Website', name: 'contact form' },
    { label: 'Gateway', name: `POST ${new URL(formUrl).pathname}`, location: { screen: 'gateway' } },
    { label: 'Lambda', name: form.name, location: { screen: 'lambdas', id: form.id } },
    { label: 'Mock CRM', name: counted(leadCount, 'lead'), location: { screen: 'leads' } },
  ];
  return (
    <ol aria-label="Way of a form" className="flex flex-wrap items-center gap-2">
      {parts.map(({ label, name, location }, index) => (
        <li key={label} className="flex items-center gap-2">
          {index > 0 && <ArrowRight aria-hidden size={16} className="shrink-0 text-faint" />}
          <span className="card px-3 py-1.5">
            <span className="eyebrow block">{label}</span>
            {location ? <PlaceLink to={location}>{name}</PlaceLink> : name}
          </span>
        </li>
      ))}
    </ol>
  );
}
