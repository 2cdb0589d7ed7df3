import type { RequestHandler } from 'express'

/** GET /console: what this service is and where its API is, for whoever opens it in a browser. */
export const consolePage: RequestHandler = (_req, res) => {
  res.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
  res.type('html').send(PAGE)
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Console</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem } code { background: #eee; padding: 0 .25em }</style>
<h1>Console</h1>
<p>Organizations, people, teams, projects, keys, products, wallets and usage are managed through the API under
<code>/api/v2</code> on this address.</p>
<p>Sign in with <code>POST /api/v2/session</code> and <code>{"email": "…", "password": "…"}</code>, or send
<code>Authorization: Bearer svu_…</code> with a personal token. <code>GET /api/v2/me</code> answers who you are and what you
belong to. Every refusal says what clears it.</p>
<p>Models are called with a key (<code>svc_…</code>) at <code>/v1/chat/completions</code> and listed at
<code>/v1/models</code>.</p>
</html>
`
