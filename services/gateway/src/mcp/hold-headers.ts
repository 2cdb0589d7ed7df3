/**
 * The same answer, held back until `begun` or until there is something of it to be sent, whichever is first: by then
 * its status and headers say all they can.
 */
export async function holdHeaders(answer: Response, begun: Promise<void>): Promise<Response> {
  if (answer.body === null) return answer
  const reader = answer.body.getReader()
  let next: ReturnType<typeof reader.read> | null = reader.read()
  await Promise.race([begun, next])

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (next ?? reader.read())
      next = null
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { status: answer.status, headers: answer.headers })
}
