import express, { type Express } from 'express'

/** An Express application that says nothing of itself: no `X-Powered-By`, and no ETag that nobody asked for. */
export function openApp(): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  return app
}
