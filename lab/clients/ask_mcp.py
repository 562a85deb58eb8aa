#!/usr/bin/env python3
"""Every tool of the package mcp-apache-spark-history-server, asked of a history server as an agent would.

    ask_mcp.py BASE_URL              writes a line of JSON for each call: step, output

Runs where the package is installed; starts its server, which speaks over stdin and stdout.
"""
import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import steps

# Those for another vendor's cloud are not asked: they go to no history server.
ELSEWHERE = ("aws_",)
# The package takes seconds for what is read in milliseconds, so it is asked about some attempts only.
EVERY = 4


class Tools:
    def __init__(self, session):
        self.session, self.asked = session, set()

    async def __call__(self, tool, **args):
        self.asked.add(tool)
        answer = await self.session.call_tool(tool, args)
        texts = [c.text if hasattr(c, "text") else str(c) for c in answer.content]
        output = "%s\n%s" % ("error" if answer.isError else "ok", "\n".join(texts))
        steps.emit("mcp %s %s" % (tool, json.dumps(args, sort_keys=True)), output)


async def one_attempt(call, url, app, attempt):
    at = {"app_id": app, **({"app_attempt_id": attempt} if attempt else {})}
    path = steps.path(app, attempt)
    await call("list_jobs", **at)
    await call("list_jobs", status=["FAILED"], **at)
    await call("list_jobs", sort_by="duration", offset=1, length=3, **at)
    await call("list_stages", **at)
    await call("list_stages", status=["COMPLETE"], sort_by="duration", length=5, **at)
    await call("list_stages", with_summaries=True, length=2, **at)
    await call("list_executors", include_inactive=True, sort_by="gc", **at)
    await call("list_executors", **at)
    await call("get_environment", **at)
    await call("get_environment", section="spark_properties", **at)
    await call("get_executor_thread_dump", executor_id="driver", **at)
    await call("list_sql_executions", **at)
    await call("list_sql_executions", status="FAILED", **at)
    await call("list_sql_executions", sort_by="duration", limit=2, page_size=1, **at)
    for execution in steps.few([x["id"] for x in steps.get(url, path + "/sql?details=false") or []]):
        await call("get_sql_execution", execution_id=execution, **at)
        await call("get_sql_execution", execution_id=execution, include_plan=True, include_initial_plan=True,
                   include_aggregated_metrics=True, include_stages=True, **at)
    for s in steps.few(steps.get(url, path + "/stages")):
        await call("list_stage_task_failures", stage_id=s["stageId"], stage_attempt_id=s["attemptId"], **at)
        if not attempt:
            # These tools know no application attempts.
            await call("get_stage", app_id=app, stage_id=s["stageId"])
            await call("get_stage", app_id=app, stage_id=s["stageId"], attempt_id=s["attemptId"], with_summaries=True,
                       quantiles="0.1,0.5,0.9")
    if not attempt:
        await call("get_executor_summary", app_id=app)
        await call("get_resource_usage_timeline", app_id=app)
        await call("get_job_bottlenecks", app_id=app, top_n=3)


async def pairs(call, url, apps):
    """What compares two applications: neighbours in the list."""
    for one, two in zip(apps, apps[1:]):
        await call("compare_job_environments", app_id1=one, app_id2=two)
        await call("compare_job_performance", app_id1=one, app_id2=two)
        await call("compare_sql_executions", app_id1=one, app_id2=two, include_plan_diff=True)
        stages = [steps.get(url, steps.path(app, None) + "/stages?status=complete") for app in (one, two)]
        if all(stages):
            first = [s[-1]["stageId"] for s in stages]
            await call("compare_stages", app_id1=one, stage_id1=first[0], app_id2=two, stage_id2=first[1])


async def main(url):
    program = os.path.join(os.path.dirname(sys.executable), "spark-mcp")
    env = {"SHS_MCP__TRANSPORT": "stdio", "SHS_SERVERS__LOCAL__URL": url, "PATH": os.environ["PATH"],
           "HOME": os.path.dirname(os.path.abspath(__file__))}
    start = StdioServerParameters(command=program, args=[], env=env)
    with open(os.devnull, "w", encoding="utf-8") as quiet:
        async with stdio_client(start, errlog=quiet) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = [t.name for t in (await session.list_tools()).tools]
            call = Tools(session)
            await call("list_applications")
            await call("list_applications", status=["completed"], limit=3)
            await call("list_applications", min_date="2026-12-01", max_date="2026-12-01T00:30:00.000GMT")
            await call("list_applications", app_id="nosuch")
            await call("list_jobs", app_id="nosuch")
            attempts = steps.attempts(url)[::EVERY]
            for app, attempt in attempts:
                await call("list_applications", app_id=app)
                await one_attempt(call, url, app, attempt)
            await pairs(call, url, [app for app, attempt in attempts if not attempt])
            missed = [t for t in tools if t not in call.asked and not t.startswith(ELSEWHERE)]
            steps.emit("mcp tools", " ".join(sorted(tools)))
            if missed:
                sys.exit("not asked: " + " ".join(missed))


asyncio.run(main(sys.argv[1]))
