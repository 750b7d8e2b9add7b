"""The page's frame, style and script. ``{…}`` of PAGE are filled in by :mod:`harness.explain.html`."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<p class="kind">Race in <code>{scenario}</code> <span class="badge">{outcome}</span></p>
<h1>{message}</h1>
<p class="cause">{cause}</p>
</header>
<main>
<section aria-labelledby="h-what"><h2 id="h-what">What went wrong</h2><ol class="account">
{account}
</ol></section>
<section aria-labelledby="h-lanes"><h2 id="h-lanes">The interleaving</h2>
<div class="bar"><p>Time runs downwards. A thick line: the thread runs. A thin one: it waits for its turn.</p>
<div class="zoom" role="group" aria-label="Zoom"><button type="button" data-zoom="-1" aria-label="Smaller">&minus;</button><output>100 %</output><button type="button" data-zoom="1" aria-label="Larger">+</button></div></div>
<div class="scroll" tabindex="0" role="region" aria-label="Lanes of the threads"><div class="lanes" style="--n:{count}">
<div class="heads">{heads}</div>
<div class="body">{rails}<ol class="events">
{events}
</ol></div></div></div></section>
<section aria-labelledby="h-sure"><h2 id="h-sure">What makes the difference</h2>{sure}</section>
<section aria-labelledby="h-trail"><h2 id="h-trail">The state, access by access</h2>{trail}</section>
{frames}<section aria-labelledby="h-code"><h2 id="h-code">The code</h2>{code}</section>
<section aria-labelledby="h-replay"><h2 id="h-replay">Again</h2><pre class="wrap">{replay}</pre><dl>{environment}</dl></section>
</main>
<script>{script}</script>
</body>
</html>
"""

STYLE = """
:root{--bg:#fbfaf8;--fg:#1d1c1a;--soft:#6a665f;--line:#d9d5cd;--card:#fff;--bad:#b3261e;--badbg:#fdecea;
--t0:#1f6fb2;--t1:#a8560a;--t2:#2e7d4f;--t3:#7b4bb0;--t4:#0d7c86;--t5:#a33a6f}
@media (prefers-color-scheme:dark){:root{--bg:#171614;--fg:#eceae6;--soft:#a5a099;--line:#3a3733;--card:#211f1c;--bad:#ff8a80;--badbg:#3a1f1c;
--t0:#7db8ee;--t1:#f0a75e;--t2:#7fd0a0;--t3:#c3a1ee;--t4:#6cccd6;--t5:#ee93bf}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main{max-width:66rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{margin:.4em 0;font-size:1.6rem;line-height:1.25}
h2{margin:2.2rem 0 .6rem;font-size:1.25rem}
h3{margin:1.4rem 0 .2rem;font-size:1rem}
.kind{margin:0;color:var(--soft)}
.badge{border:1px solid var(--bad);color:var(--bad);border-radius:1em;padding:.05em .7em;margin-left:.4em;white-space:nowrap}
.cause{margin:.4em 0;color:var(--soft)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.88em}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.7em .9em;overflow:auto;overflow-wrap:normal}
pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:var(--badbg);color:inherit;font-weight:700;display:inline-block;min-width:100%}
.account li{margin:.35em 0;padding-left:.2em;max-width:62em}
.t0{--c:var(--t0)}.t1{--c:var(--t1)}.t2{--c:var(--t2)}.t3{--c:var(--t3)}.t4{--c:var(--t4)}.t5{--c:var(--t5)}
b[class^=t]{color:var(--c)}
.bar{display:flex;gap:1rem;justify-content:space-between;align-items:center;flex-wrap:wrap}
.bar p{margin:0;color:var(--soft);flex:1 1 18rem}
.zoom{display:flex;align-items:center;gap:.4rem;white-space:nowrap}
.zoom output{min-width:3.6em;text-align:center;font-variant-numeric:tabular-nums}
button{font:inherit;width:2.75rem;height:2.75rem;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--fg);cursor:pointer}
.scroll{overflow-x:auto;max-width:100%}
.lanes{--z:1;--x:.9em;font-size:calc(.92rem*var(--z));min-width:calc(var(--n)*10em);margin-top:.8rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
.heads,.events{display:grid;grid-template-columns:repeat(var(--n),minmax(0,1fr))}
.heads{border-bottom:1px solid var(--line)}
.head{padding:.5em .6em;color:var(--c);grid-column:calc(var(--i) + 1)}
.head span{font-family:ui-monospace,monospace;font-size:.92em}
.body{position:relative;padding:.6em 0}
.rail{position:absolute;top:0;bottom:0;width:1px;background:var(--line);left:calc(100%/var(--n)*var(--i) + var(--x))}
.events{list-style:none;margin:0;padding:0;position:relative}
.events>li{position:relative;grid-column:calc(var(--i) + 1);padding:.3em .5em .3em calc(var(--x) + .9em)}
.events>li:not(.arrow):not(.all)::before{content:"";position:absolute;left:calc(var(--x) - 1.5px);top:0;bottom:0;width:4px;background:var(--c)}
.events>li.start::before{top:50%!important;border-radius:3px 3px 0 0}
.events>li.end::before{bottom:50%!important;border-radius:0 0 3px 3px}
.events>li:not(.arrow):not(.all)::after{content:"";position:absolute;left:calc(var(--x) - .28em);top:.82em;width:.7em;height:.7em;border-radius:50%;background:var(--card);border:2px solid var(--c)}
.events>li.write::after,.events>li.fail::after{background:var(--c)!important}
.events>li.start::after,.events>li.end::after{border-radius:1px!important;height:.5em!important}
.box{padding:.15em .5em;border-radius:6px;border:1px solid transparent}
.start .box,.end .box,.more .box{color:var(--soft)}
.key .box{background:var(--badbg);border-color:var(--bad)}
.fail .box{color:var(--bad);font-weight:600}
.all{grid-column:1/-1!important;padding-left:.6em!important;margin-top:.5em}
.all .box{color:var(--bad);font-weight:600}
.value{white-space:normal}
.at{display:block;color:var(--soft);font-size:.82em;line-height:1.35}
.arrow{grid-column:calc(var(--i) + 1)/span calc(var(--span) + 1)!important;padding:.5em 0!important;color:var(--soft)}
.arrow .label{display:block;margin:0 calc(100%/var(--w,2)) .25em calc(var(--x) + 1em);font-size:.88em}
.arrow .label small{color:inherit}
.arrow .label small::before{content:"("}.arrow .label small::after{content:")"}
.arrow.asked{color:var(--fg)}
.arrow.asked .label>span{font-weight:700}
.shaft{display:block;position:relative;height:0;border-top:2px dashed currentColor;margin-left:var(--x);width:calc(100%*var(--span)/(var(--span) + 1))}
.asked .shaft{border-top-style:solid}
.shaft::after{content:"";position:absolute;top:-7px;border:6px solid transparent}
.right .shaft::after{right:-2px;border-left:10px solid currentColor;border-right:0}
.left .shaft::after{left:-2px;border-right:10px solid currentColor;border-left:0}
table{border-collapse:collapse;width:100%;font-size:.93rem;min-width:34rem}
th,td{text-align:left;padding:.35em .6em;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600;white-space:nowrap}
tr.key td{background:var(--badbg)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1em;color:var(--soft)}dd{margin:0}
summary{cursor:pointer;padding:.4em 0}
main{padding-bottom:3rem}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:40rem){h1{font-size:1.25rem}.lanes{font-size:calc(.84rem*var(--z))}.account{padding-left:1.3em}.events>li{padding-left:calc(var(--x) + .5em);padding-right:.25em}.box{padding:.15em .3em}}
@media print{.zoom{display:none}details>*{display:block}}
"""

SCRIPT = """
"use strict";
const lanes = document.querySelector(".lanes"), shown = document.querySelector(".zoom output");
let step = 0;
function zoom(by) {
  step = Math.max(-4, Math.min(8, step + by));
  const z = Math.pow(1.15, step);
  lanes.style.setProperty("--z", z);
  lanes.style.width = step > 0 ? 100 * z + "%" : "";
  shown.textContent = Math.round(100 * z) + " %";
}
document.querySelectorAll("[data-zoom]").forEach(b => b.addEventListener("click", () => zoom(Number(b.dataset.zoom))));
document.querySelector(".lanes").parentElement.addEventListener("wheel", e => {
  if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY < 0 ? 1 : -1); }
}, {passive: false});
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "+" || e.key === "=") zoom(1);
  if (e.key === "-") zoom(-1);
  if (e.key === "0") zoom(-step);
});
"""
