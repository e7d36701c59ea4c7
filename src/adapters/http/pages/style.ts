/** What all pages look like. Every colour has a contrast of 4.5 to 1 or more on its ground. */
export const style = `:root { color-scheme: light dark;
  --ground: light-dark(#fbfbfd, #101218); --raised: light-dark(#fff, #191c25);
  --ink: light-dark(#1b1f2a, #e7e9f0); --soft: light-dark(#565d70, #a3abbf);
  --line: light-dark(#dfe2ea, #2c3140); --accent: light-dark(#4338ca, #a5a9ff);
  --on-accent: light-dark(#fff, #14152b); --tint: light-dark(#eef0ff, #22264a);
  --bad: light-dark(#b3122d, #ff9aa6); --bad-tint: light-dark(#fdeef0, #3a1a22);
  --good: light-dark(#0d6b43, #6fd8a8); --good-tint: light-dark(#e5f6ee, #12332a);
  --late: light-dark(#8a5200, #f0b866); --late-tint: light-dark(#fdf2df, #3a2a10);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace }
* { box-sizing: border-box }
html { background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100% }
body { margin: 0; font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px }
h1 { font-size: clamp(1.6rem, 4vw, 2.1rem); line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .75rem }
h2 { font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; margin: 2.25rem 0 .5rem }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem }
p { margin: 0 0 .9rem } .soft { color: var(--soft) } .lead { font-size: 1.12rem; color: var(--soft); max-width: 42rem }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; padding: .7rem clamp(1rem, 4vw, 2rem);
  background: var(--raised); border-bottom: 1px solid var(--line) }
.top a { color: var(--soft); text-decoration: none; padding: .2rem 0 } .top a:hover { color: var(--ink) }
.top nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem }
.top [aria-current] { color: var(--ink); box-shadow: 0 2px var(--accent) }
.top .brand { display: flex; align-items: center; gap: .55rem; margin-right: auto; font-weight: 700; color: var(--ink) }
.brand svg { width: 1.6rem; height: 1.6rem }
main { max-width: 60rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 3rem) clamp(1rem, 4vw, 2rem) 4rem }
code, pre { font-family: var(--mono); font-size: .875em } pre code { font-size: inherit }
:not(pre) > code { background: var(--tint); padding: .1em .35em; border-radius: 4px }
pre { border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1rem; line-height: 1.5; overflow-wrap: normal }
pre, .scroll { position: relative; margin: 0 0 1rem; overflow-x: auto; --at: var(--ground); background:
  linear-gradient(90deg, var(--at) 1rem, transparent) local, linear-gradient(-90deg, var(--at) 1rem, transparent) 100% local,
  linear-gradient(90deg, var(--line), transparent), linear-gradient(-90deg, var(--line), transparent) 100%;
  background-size: 2.5rem 100%, 2.5rem 100%, .8rem 100%, .8rem 100%; background-repeat: no-repeat; background-color: var(--at) }
pre { --at: var(--raised) } .card pre, .whole { white-space: pre-wrap; overflow-wrap: anywhere }
.card pre { background: var(--ground); font-size: .8125rem }
.row { display: flex; flex-wrap: wrap; gap: .5rem 1rem } .row:empty { display: none }
.guide { display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr); max-width: 76rem; margin: 0 auto }
.guide > nav { padding: clamp(1.5rem, 5vw, 3rem) 0 1rem clamp(1rem, 4vw, 2rem); font-size: .92rem }
.guide ul { margin-top: 0 } .guide > nav ul { list-style: none; padding: 0; position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto }
.guide > nav ul ul { position: static; max-height: none; font-size: .88rem } .guide > nav ul ul a { padding-left: 1.5rem }
.guide > nav a { display: block; padding: .28rem .7rem; color: var(--soft); text-decoration: none; border-left: 2px solid var(--line) }
.guide > nav a:hover { color: var(--ink) } .guide > nav [aria-current] { color: var(--accent); border-color: var(--accent); font-weight: 600 }
.guide main { margin: 0; max-width: 54rem } .guide li { margin: .2rem 0 } h2, h3 { scroll-margin-top: 1rem }
.guide td:not(:last-child) code { white-space: nowrap } .guide table { min-width: 34rem } .guide pre code { background: none }
[hidden] { display: none !important }
table { border-collapse: collapse; width: 100%; font-size: .94rem }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--line) }
th { font-weight: 600; color: var(--soft) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; padding: 0; list-style: none }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.2rem; min-width: 0 }
.card h2, .card h3 { margin-top: 0 } .card > :last-child { margin-bottom: 0 }
button, .button { font: inherit; font-weight: 550; line-height: 1.3; padding: .5rem .95rem; border-radius: 8px; cursor: pointer;
  border: 1px solid var(--line); background: var(--raised); color: var(--ink); text-decoration: none; display: inline-block }
button:hover, .button:hover { border-color: var(--accent) } button[aria-disabled=true] { opacity: .55; cursor: default }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
.badge { display: inline-block; padding: .1rem .55rem; border-radius: 99px; font-size: .82rem; font-weight: 600; white-space: nowrap;
  background: var(--tint); color: var(--accent) }
.badge.good { background: var(--good-tint); color: var(--good) } .badge.late { background: var(--late-tint); color: var(--late) }
.badge.bad { background: var(--bad-tint); color: var(--bad) }
main:not([id]) > table :is(th, td), .guide :is(th, td) { overflow-wrap: break-word }
@media (max-width: 50rem) {
  .guide { display: block } .guide > nav { padding: .8rem 0 0 }
  .guide > nav ul { display: flex; gap: .3rem; overflow-x: auto; padding: .2rem clamp(1rem, 4vw, 2rem) .5rem } .guide nav ul ul { display: none }
  .guide > nav a { border: 1px solid var(--line); border-radius: 99px; white-space: nowrap } .guide > nav li:has([aria-current]) { order: -1 }
  .guide table { min-width: 0 } .guide td:nth-child(n+2) code { white-space: normal } .guide :is(th, td) { min-width: 5rem; padding: .45rem .5rem }
  .card { padding: .9rem } .card pre { font-size: .75rem; padding: .7rem .75rem }
}
@media (prefers-reduced-motion: no-preference) { button, .button, a { transition: color .12s, border-color .12s } }
`;

/** A lectern. */
const mark =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4338ca"/>' +
  '<path d="M8 9h16l-2 6H10zM14 15h4v8h-4zM11 23h10v2.5H11z" fill="#fff"/></svg>';

export const brand = mark.replace('<svg ', '<svg aria-hidden="true" ');
export const favicon = mark;
