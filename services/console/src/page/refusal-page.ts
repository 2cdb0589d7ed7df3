import type { Request, Response } from 'express'
import { pageAddress } from '@gateway/console-page/built-page'
import type { Refusal } from '@gateway/contracts/refusal'
import type { HttpAnswer } from '@gateway/service-kit/http/answer-errors'
import { pageHeaders } from './page-headers.ts'

/**
 * For what a browser goes to by itself: if it is refused, the person before it gets a page to read, and a program JSON.
 * @param returnTo address of the console that the page leads to
 */
export function expectBrowser(req: Request, res: Pick<Response, 'locals'>, returnTo = pageAddress): void {
  res.locals['browserReturnsTo'] = req.accepts(['json', 'html']) === 'html' ? returnTo : null
}

/** Where the browser of a request begins again; null: there is none to read a page. */
export function returnOfBrowser(res: Pick<Response, 'locals'>): string | null {
  return (res.locals['browserReturnsTo'] as string | null | undefined) ?? null
}

/** @param stylesheet its address @param returnTo address of the console */
export function refusalPage(
  { status, headers, body: { message, resolution } }: Refusal,
  stylesheet: string,
  returnTo: string,
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
<p><a class="button" href="${escaped(returnTo)}">Begin again</a></p>
</main>
</html>
`
  return { status, body: html, headers: { ...headers, ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' } }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!)
}
