import type { Request, Response } from 'express'
import type { Refusal } from '@gateway/contracts/refusal'
import type { HttpAnswer } from '@gateway/http/answer-errors'
import { pageHeaders } from './page-headers.ts'

/** For what a browser goes to by itself: if it is refused, the person before it gets a page to read, and a program JSON. */
export function expectBrowser(req: Request, res: Pick<Response, 'locals'>): void {
  res.locals['forBrowser'] = req.accepts(['json', 'html']) === 'html'
}

export function isForBrowser(res: Pick<Response, 'locals'>): boolean {
  return res.locals['forBrowser'] === true
}

/** @param stylesheet its address */
export function refusalPage(
  { status, headers, body: { message, resolution } }: Refusal,
  stylesheet: string,
): HttpAnswer {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>That did not work</title>
<link rel="stylesheet" href="${stylesheet}">
<main class="narrow card">
<h1>That did not work</h1>
<p>${escaped(message)}</p>
<p class="resolution">${escaped(resolution)}</p>
<p><a class="button" href="/console">Go to the console</a></p>
</main>
</html>
`
  return { status, body: html, headers: { ...headers, ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' } }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}
