"""The server of the live page: a few static files and three addresses below `/api/`."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pcn.errors import UserError
from pcn.explorer.document import compact_json
from pcn.explorer.explorer import Busy, Explorer
from pcn.explorer.page_files import KINDS, PAGE, index_html, page_file_names
from pcn.explorer.requests import MOST_BYTES, read_policy_request, read_rollout_request
from pcn.explorer.security import App, Guard
from pcn.lookup import optional_module

if TYPE_CHECKING:
    from starlette.requests import Request

EXTRA = "explore"


def application(
    explorer: Explorer, *, token: str, host: str, frame_ancestors: str = "'none'"
) -> App:
    """The application for a server such as uvicorn, with its guard around it."""
    optional_module("starlette", extra=EXTRA)
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route

    def refusal(status: int, sentence: str) -> Response:
        return JSONResponse({"error": sentence}, status)

    def json_response(text: str) -> Response:
        return Response(text, media_type="application/json")

    async def page(request: "Request") -> Response:
        del request
        return HTMLResponse(index_html())

    async def page_file(request: "Request") -> Response:
        name = request.path_params["name"]
        if name not in page_file_names():
            return refusal(404, "There is no such file.")
        path = PAGE / name
        return Response(path.read_bytes(), media_type=KINDS[path.suffix])

    async def document(request: "Request") -> Response:
        del request

        def work() -> Response:
            answer = json_response(compact_json(explorer.document))
            explorer.prepare()  # whoever looks will watch something soon
            return answer

        return await run_in_threadpool(work)

    async def rollout(request: "Request") -> Response:
        def work(content: Any) -> Response:
            asked = read_rollout_request(content, explorer.runs)
            return json_response(compact_json(explorer.rollout(asked)))

        return await answered(request, work)

    async def export(request: "Request") -> Response:
        def work(content: Any) -> Response:
            name, file = explorer.zipped(read_policy_request(content, explorer.runs))
            disposition = {"content-disposition": f'attachment; filename="{name}"'}
            return Response(file, media_type="application/zip", headers=disposition)

        return await answered(request, work)

    async def answered(request: "Request", work: Callable[[Any], Response]) -> Response:
        """The answer to a request with a JSON body; what goes wrong is told in a sentence."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            return refusal(415, "A request must be JSON.")
        body = await limited_body(request)
        if body is None:
            return refusal(413, f"A request has at most {MOST_BYTES} bytes.")
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            return refusal(400, "The request is not JSON.")
        try:
            return await run_in_threadpool(work, content)
        except Busy:
            return refusal(429, "Another policy is being executed; try again in a moment.")
        except UserError as error:
            return refusal(400, str(error))
        except Exception as error:  # whatever the environment's own code raises
            return refusal(422, f"The policy could not be executed: {error}")

    return Guard(
        Starlette(
            routes=[
                Route("/", page),
                Route("/page/{name}", page_file),
                Route("/api/document", document),
                Route("/api/rollout", rollout, methods=["POST"]),
                Route("/api/export", export, methods=["POST"]),
            ]
        ),
        token=token,
        host=host,
        frame_ancestors=frame_ancestors,
    )


async def limited_body(request: "Request") -> bytes | None:
    """The body of a request; None if it is too long, and then no more of it is read."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return None
    return body
