import { useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Distance to the end of the page, in pixels, up to which the reader counts as being at the end. */
const NEAR_PX = 64

/**
 * Keeps the end of the page in view while content grows, unless the reader has scrolled away from it.
 * @param content changes whenever the page grows
 */
export function useFollowEnd(content: unknown) {
  const [isAtEnd, setAtEnd] = useState(true)
  const follows = useRef(true)
  useEffect(() => {
    const { documentElement: page } = document
    const onScroll = () => {
      follows.current = page.scrollHeight - globalThis.scrollY - globalThis.innerHeight < NEAR_PX
      setAtEnd(follows.current)
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  const isFirst = useRef(true)
  const toEnd = () => globalThis.scrollTo({ top: document.documentElement.scrollHeight })
  useLayoutEffect(() => {
    // A conversation that is restored opens where the page opens.
    if (!isFirst.current && follows.current) toEnd()
    isFirst.current = false
  }, [content])
  return {
    isAtEnd,
    toEnd: () => {
      follows.current = true
      toEnd()
    },
  }
}
