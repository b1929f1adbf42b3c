import type { Request, Response } from 'express';
import { invalidValue } from './scm-error.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** Answers one page of a list, with the headers that clients walk on by. */
export function sendPage(req: Request, res: Response, all: readonly object[], selfUrl: string): void {
  const page = count(req, 'page', 1);
  const perPage = Math.min(count(req, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const link = (to: number, rel: string) => {
    const url = new URL(req.originalUrl, selfUrl);
    url.searchParams.delete('private_token');
    url.searchParams.set('page', String(to));
    url.searchParams.set('per_page', String(perPage));
    return `<${url}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(pages, 'last')];
  if (page > 1) links.unshift(link(page - 1, 'prev'));
  if (page < pages) links.unshift(link(page + 1, 'next'));
  res.set({
    Link: links.join(', '),
    'X-Page': String(page),
    'X-Per-Page': String(perPage),
    'X-Prev-Page': page > 1 ? String(page - 1) : '',
    'X-Next-Page': page < pages ? String(page + 1) : '',
    'X-Total': String(all.length),
    'X-Total-Pages': String(pages),
  });
  res.json(all.slice((page - 1) * perPage, page * perPage));
}

function count(req: Request, name: string, unless: number): number {
  const { [name]: sent } = req.query;
  if (sent === undefined || sent === '') return unless;
  if (typeof sent !== 'string' || !/^[1-9]\d{0,8}$/.test(sent)) throw invalidValue(name);
  return Number(sent);
}
